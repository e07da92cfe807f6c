// The part of Eleventy that the site uses; the package has no types of its own.
declare module '@11ty/eleventy' {
  export type Attributes = [name: string, value: string][];

  export type Token = {
    type: string;
    tag: string;
    content: string;
    attrs: Attributes | null;
    children: Token[] | null;
    attrGet: (name: string) => string | null;
    attrSet: (name: string, value: string) => void;
  };

  export type MarkdownState = { tokens: Token[]; env: { page?: { inputPath: string } } };

  export type Markdown = {
    core: { ruler: { push: (name: string, rule: (state: MarkdownState) => void) => void } };
    renderer: { rules: Record<string, (() => string) | undefined> };
  };

  export type PageData = { page: { inputPath: string; rawInput: string } };

  export type Config = {
    ignores: Set<string>;
    setUseGitIgnore: (use: boolean) => void;
    setQuietMode: (quiet: boolean) => void;
    setInputDirectory: (folder: string) => void;
    setIncludesDirectory: (folder: string) => void;
    setDataDirectory: (folder: string) => void;
    setTemplateFormats: (formats: string[]) => void;
    amendLibrary: (name: 'md', change: (markdown: Markdown) => void) => void;
    addGlobalData: (name: string, value: unknown) => void;
    addPassthroughCopy: (files: Record<string, string>) => void;
    addTemplate: (path: string, content: string) => void;
  };

  export class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { quietMode: boolean; configPath: string | undefined; config: (config: Config) => void },
    );
    write(): Promise<unknown>;
  }
}
