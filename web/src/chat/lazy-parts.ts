import { lazyComponent } from '../layout/lazy-component.tsx';

/** Parts of a conversation that the first page load does without; the composer preloads them. */

export const MessageEditor = lazyComponent(async () => (await import('./thread/message-editor.tsx')).MessageEditor);
export const ToolCall = lazyComponent(async () => (await import('./parts/tool-call.tsx')).ToolCall);
