import { type DiagramTheme, maximumCode, maximumPicture, parseFrameMessage } from './protocol.ts';

/** Includes loading the library. */
const timeLimitMilliseconds = 10_000;

/** `unavailable`: the drawing page did not answer in time. `fault` is the library's own text, in English. */
export type Drawing =
  | { type: 'drawn'; picture: Blob }
  | { type: 'broken'; fault: string }
  | { type: 'tooLarge' }
  | { type: 'unavailable' };

/** The drawings that were asked for, one after the other: each loads the library in a frame of its own. */
let drawings: Promise<unknown> = Promise.resolve();

/** Draws a diagram once those asked for before are done. An aborted one that has not begun is skipped. */
export function drawDiagram(code: string, theme: DiagramTheme, signal: AbortSignal): Promise<Drawing> {
  if (code.length > maximumCode) return Promise.resolve({ type: 'tooLarge' });
  const drawing = drawings.then(() => (signal.aborted ? unavailable : drawNow(code, theme, signal)));
  drawings = drawing;
  return drawing;
}

const unavailable = { type: 'unavailable' } as const;

/**
 * Draws a diagram in a temporary frame without an origin or network, connected to this page only by messages. The
 * picture is for <img> only, where nothing in it can run or load.
 */
function drawNow(code: string, theme: DiagramTheme, signal: AbortSignal): Promise<Drawing> {
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
    const timer = setTimeout(() => finish(unavailable), timeLimitMilliseconds);
    signal.addEventListener('abort', () => finish(unavailable), { signal: over.signal });
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
