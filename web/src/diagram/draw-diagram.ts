import { type DiagramTheme, maximumCode, maximumPicture, parseFrameMessage } from './protocol.ts';

/** Includes loading the library. */
const timeLimitMilliseconds = 10_000;

/** `unavailable`: the drawing page did not answer in time. `fault` is the library's own text, in English. */
export type Drawing =
  | { type: 'drawn'; picture: Blob }
  | { type: 'broken'; fault: string }
  | { type: 'tooLarge' }
  | { type: 'unavailable' };

/**
 * Draws a diagram in a temporary frame without an origin or network, connected to this page only by messages. The
 * picture is for <img> only, where nothing in it can run or load.
 */
export function drawDiagram(code: string, theme: DiagramTheme, signal: AbortSignal): Promise<Drawing> {
  if (code.length > maximumCode) return Promise.resolve({ type: 'tooLarge' });
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.src = '/diagram.html';
  // Laid out, because texts are measured in it, but invisible, silent and unreachable.
  frame.style.cssText = 'position:fixed;inset:0;width:100%;height:100%;border:0;visibility:hidden;pointer-events:none';
  return new Promise((resolve) => {
    const over = new AbortController();
    const finish = (drawing: Drawing) => {
      over.abort();
      clearTimeout(timer);
      frame.remove();
      resolve(drawing);
    };
    const timer = setTimeout(() => finish({ type: 'unavailable' }), timeLimitMilliseconds);
    signal.addEventListener('abort', () => finish({ type: 'unavailable' }), { signal: over.signal });
    window.addEventListener(
      'message',
      (event) => {
        if (event.source !== frame.contentWindow) return;
        const message = parseFrameMessage(event.data);
        if (message?.type === 'ready') frame.contentWindow?.postMessage({ code, theme }, '*');
        if (message?.type === 'failed') finish({ type: 'broken', fault: message.fault });
        if (message?.type === 'drawn') {
          if (message.svg.length > maximumPicture) finish({ type: 'tooLarge' });
          else finish({ type: 'drawn', picture: new Blob([message.svg], { type: 'image/svg+xml' }) });
        }
      },
      { signal: over.signal },
    );
    document.body.append(frame);
  });
}
