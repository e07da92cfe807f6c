// The part of markdown-it that the site uses; the package has no types.
declare module 'markdown-it' {
  export type Token = {
    type: string;
    tag: string;
    content: string;
    attrs: [name: string, value: string][] | null;
    children: Token[] | null;
    attrGet: (name: string) => string | null;
    attrSet: (name: string, value: string) => void;
  };

  export default class MarkdownIt {
    constructor(options: { html: boolean });
    renderer: {
      rules: Record<string, ((tokens: readonly Token[], index: number) => string) | undefined>;
      render: (tokens: Token[], options: object, environment: object) => string;
    };
    options: object;
    parse(text: string, environment: object): Token[];
  }
}
