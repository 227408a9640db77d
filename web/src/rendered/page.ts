import { blockExfiltration } from './block-exfiltration.ts';
import { maximumFault, type RenderedMessage, type RenderRequest } from './protocol.ts';

// The page has no origin (sandbox), so it can only be addressed as '*'; the only page that can hold it is ours
// (frame-ancestors).
const client = parent;
const say = (message: RenderedMessage) => client.postMessage(message, '*');

/** Errors left to report, limited for pages that fail in a loop. */
let left = 20;

addEventListener(
  'message',
  (event: MessageEvent<RenderRequest>) => {
    if (event.source !== client || client === window) return;
    show(event.data).catch((error: unknown) => tell(error));
  },
  { once: true },
);
blockExfiltration();
say({ type: 'ready' });

async function show({ kind, source, isTypeScript }: RenderRequest): Promise<void> {
  if (kind === 'html') {
    // Opening removes every listener, and keeps the policy that this page came with.
    document.open();
    watch();
    document.write(source);
    document.close();
    return;
  }
  watch();
  const { showComponent } = await import('./react-page.ts');
  showComponent(source, isTypeScript, tell);
}

function watch(): void {
  addEventListener(
    'error',
    (event) => {
      const { target, message, lineno } = event;
      if (event instanceof ErrorEvent) tell(lineno > 0 ? `${message} (line ${lineno})` : message);
      else if (target instanceof HTMLElement) tell(`<${target.localName}> could not load ${addressOf(target)}`);
    },
    true,
  );
  addEventListener('unhandledrejection', ({ reason }) => tell(reason));
  addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
    tell(`Not allowed here: ${effectiveDirective} ${blockedURI}`),
  );
}

function addressOf(element: HTMLElement): string {
  return element.getAttribute('src') ?? element.getAttribute('href') ?? '';
}

function tell(error: unknown): void {
  if (left <= 0) return;
  left -= 1;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  say({ type: 'fault', text: text.slice(0, maximumFault) });
}
