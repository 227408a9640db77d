/** Compiled texts of a locale: all areas, for English only those of the first page load. */
declare module 'virtual:catalogue/*' {
  const messages: Record<string, import('@lingui/message-utils/compileMessage').CompiledMessage>;
  export default messages;
}

/** Imported by every part that is loaded on demand: loads the English texts of an area with it. */
declare module 'virtual:texts/*' {}

declare module 'virtual:catalogues' {
  /** Loads the texts of a language other than English. */
  export const catalogues: Record<
    string,
    () => Promise<{ default: Record<string, import('@lingui/message-utils/compileMessage').CompiledMessage> }>
  >;
}
