import { hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { ancestors, ownHeaders } from './preview-headers.ts';

/** Our own pages at a preview's address: why the app cannot be seen. */
export type PreviewFault = 'closed' | 'foreign' | 'asleep' | 'silent' | 'slow' | 'broken' | 'busy' | 'refused';

const statuses: Record<PreviewFault, number> = {
  closed: 401,
  foreign: 403,
  refused: 403,
  asleep: 503,
  busy: 503,
  silent: 502,
  broken: 502,
  slow: 504,
};

type Text = readonly [title: string, text: string];

const english: Record<PreviewFault, Text> = {
  closed: ['This preview is closed', 'Open it again from your conversation or your workspace in Homeport.'],
  foreign: ['This page can’t be used from there', 'Another site made this request, so it didn’t reach the app.'],
  refused: ['Previews can’t do this', 'Service workers and this kind of request are switched off in previews.'],
  asleep: ['The workspace is asleep', 'The app ended with it. Start the workspace and the app again, then reload.'],
  busy: ['Too many connections', 'This app has too many connections open. Reload in a moment.'],
  silent: ['Nothing is running here yet', 'No program listens on this port. Start the app, then reload.'],
  broken: ['The app broke the connection', 'It closed the connection or sent something invalid. Check its output.'],
  slow: ['The app doesn’t answer', 'It took too long to respond. Check its output, then reload.'],
};

const german: Record<PreviewFault, Text> = {
  closed: [
    'Diese Vorschau ist geschlossen',
    'Öffne sie in Homeport erneut, aus der Unterhaltung oder dem Arbeitsbereich.',
  ],
  foreign: [
    'Das geht von dort aus nicht',
    'Eine andere Seite hat das angefordert, deshalb kam es nicht bei der App an.',
  ],
  refused: ['Das können Vorschauen nicht', 'Service Worker und diese Art von Anfrage sind in Vorschauen abgeschaltet.'],
  asleep: ['Der Arbeitsbereich schläft', 'Die App wurde mit ihm beendet. Starte beide wieder und lade die Seite neu.'],
  busy: ['Zu viele Verbindungen', 'Diese App hat zu viele Verbindungen offen. Lade die Seite gleich neu.'],
  silent: ['Hier läuft noch nichts', 'Kein Programm antwortet an diesem Port. Starte die App und lade die Seite neu.'],
  broken: [
    'Die App hat die Verbindung abgebrochen',
    'Sie antwortete ungültig oder gar nicht. Sieh dir ihre Ausgabe an.',
  ],
  slow: ['Die App antwortet nicht', 'Sie brauchte zu lange. Sieh dir ihre Ausgabe an und lade die Seite neu.'],
};

const style =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:30rem;margin:20vh auto 0;' +
  'padding:0 1.5rem}h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:0}';
const styleHash = hash('sha256', style, 'base64');

/** The page in the reader's language, with its status and headers. */
export function faultPage(
  fault: PreviewFault,
  language: string | undefined,
  from: string | undefined,
): { status: number; headers: OutgoingHttpHeaders; body: string } {
  const isGerman = /^\s*de\b/i.test(language ?? '');
  const [title, text] = (isGerman ? german : english)[fault];
  const body = `<!doctype html><html lang="${isGerman ? 'de' : 'en'}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style>
<main><h1>${title}</h1><p>${text}</p></main></html>
`;
  // It says nothing about anybody, so that any frame may show it.
  const framed = ancestors(from ?? '*');
  return {
    status: statuses[fault],
    headers: {
      ...ownHeaders,
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(body),
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; ${framed}`,
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-homeport-preview': fault,
    },
    body,
  };
}

/** Path of `storagePage` at every preview's origin. */
export const storagePath = '/.homeport/storage';

const storageScript = `let isUsable = navigator.cookieEnabled;
try { localStorage.getItem('homeport'); } catch { isUsable = false; }
parent.postMessage({ homeportStorage: isUsable }, '*');`;
const scriptHash = hash('sha256', storageScript, 'base64');
const storageHtml = `<!doctype html><meta charset="utf-8"><title>Storage</title><script>${storageScript}</script>`;

/**
 * A page that tells the page around it whether the browser lets framed apps keep data: many block it for frames of other
 * sites. It stores nothing and tells nothing about anybody, so it needs no ticket.
 */
export function storagePage(): { headers: OutgoingHttpHeaders; body: string } {
  return {
    headers: {
      ...ownHeaders,
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(storageHtml),
      'content-security-policy': `default-src 'none'; script-src 'sha256-${scriptHash}'; base-uri 'none'; ${ancestors('*')}`,
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
    },
    body: storageHtml,
  };
}
