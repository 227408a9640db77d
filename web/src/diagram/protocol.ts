/** The messages between the client and the page in the frame. */

/** Limits on characters of a diagram's code, lines between its boxes, and characters of its picture. */
export const maximumCode = 50_000;
export const maximumEdges = 500;
export const maximumPicture = 4_000_000;

export type DiagramTheme = 'light' | 'dark';
export type DrawRequest = { code: string; theme: DiagramTheme };

/** `ready` once the page listens; then one of the others. `fault` is the library's own text, in English. */
export type FrameMessage = { type: 'ready' } | { type: 'drawn'; svg: string } | { type: 'failed'; fault: string };

/** A message from the frame, checked because it is untrusted. */
export function parseFrameMessage(data: unknown): FrameMessage | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { type, svg, fault } = data as Record<string, unknown>;
  if (type === 'ready') return { type };
  if (type === 'drawn' && typeof svg === 'string') return { type, svg };
  if (type === 'failed' && typeof fault === 'string') return { type, fault: fault.slice(0, 300) };
  return undefined;
}
