export * from './payloads/codehost-examples.ts';
export * from './payloads/codehost-variants.ts';
export * from './payloads/delivery-headers.ts';
export * from './payloads/example.ts';
export * from './payloads/tracker-examples.ts';
export * from './temporary-folder.ts';
export * from './test-terminal.ts';
