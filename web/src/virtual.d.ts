declare module 'virtual:catalogue/*' {
  const messages: Record<string, import('@lingui/message-utils/compileMessage').CompiledMessage>;
  export default messages;
}
