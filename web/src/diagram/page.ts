import mermaid, { type MermaidConfig } from 'mermaid';
import { type DiagramTheme, type DrawRequest, type FrameMessage, maximumCode, maximumEdges } from './protocol.ts';

// The page has no origin (sandbox), so it can only be addressed as '*'; the only page that can hold it is ours
// (frame-ancestors).
const say = (message: FrameMessage) => parent.postMessage(message, '*');

addEventListener('message', (event: MessageEvent<DrawRequest>) => {
  if (event.source !== parent) return;
  draw(event.data).then(
    (svg) => say({ type: 'drawn', svg }),
    (error: unknown) => say({ type: 'failed', fault: faultOf(error) }),
  );
});
say({ type: 'ready' });

/** The parser's error with its position, without the list of expected tokens. */
function faultOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\nExpecting')[0] ?? text;
}

async function draw({ code, theme }: DrawRequest): Promise<string> {
  mermaid.initialize(configuration(theme));
  const { svg } = await mermaid.render('diagram', code);
  return asPicture(svg);
}

function configuration(theme: DiagramTheme): MermaidConfig {
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    theme: theme === 'dark' ? 'dark' : 'default',
    layout: 'dagre',
    // Labels as SVG text: HTML labels could not be measured where the picture is shown.
    htmlLabels: false,
    deterministicIds: true,
    deterministicIDSeed: 'diagram',
    maxTextSize: maximumCode,
    maxEdges: maximumEdges,
    suppressErrorRendering: true,
    fontFamily: 'system-ui, sans-serif',
    // Settings that the diagram's code cannot change.
    secure: [
      'secure',
      'securityLevel',
      'startOnLoad',
      'htmlLabels',
      'deterministicIds',
      'maxTextSize',
      'maxEdges',
      'suppressErrorRendering',
      'dompurifyConfig',
      'themeCSS',
      'fontFamily',
    ],
  };
}

/** The drawing as an XML document with its own size, as an <img> needs it. */
function asPicture(svg: string): string {
  const drawing = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
  if (drawing === null) throw new Error('Nothing was drawn.');
  const { width, height } = drawing.viewBox.baseVal;
  if (width > 0 && height > 0) {
    drawing.setAttribute('width', String(Math.ceil(width)));
    drawing.setAttribute('height', String(Math.ceil(height)));
  }
  drawing.style.maxWidth = '';
  return new XMLSerializer().serializeToString(drawing);
}
