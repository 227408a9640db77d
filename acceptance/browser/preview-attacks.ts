/**
 * Attacks of an app from within its frame, as JavaScript: an attack has succeeded if its expression is true or text.
 * `home` is Homeport's address, `local` the same by another name, `out` another preview's. The test checks the effects
 * of the other attacks afterwards.
 */
const attacks: Record<string, string> = {
  // Cookies
  'read the session cookie': `/session/.exec(document.cookie)?.[0]`,
  'read the cookie of the preview': `/homeport\\.preview=(?!evil)/.exec(document.cookie)?.[0]`,
  'read all cookies by the other way': `(await cookieStore.getAll()).find(({ name, value }) => /homeport/.test(name) && value !== 'evil')?.name`,
  'a cookie for localhost': `set('toss1=1; Domain=localhost', 'toss1')`,
  'a cookie for .localhost': `set('toss2=1; Domain=.localhost; Path=/', 'toss2')`,
  'a cookie for the address of Homeport': `set('toss3=1; Domain=' + new URL(home).hostname, 'toss3')`,
  'a cookie for localhost by the other way': `cookieStore.set({ name: 'toss4', value: '1', domain: 'localhost' }).then(() => 'set')`,
  'a cookie named like that of the session': `void (document.cookie = 'homeport.session_token=evil; Path=/')`,
  'a cookie named like that of the preview': `void (document.cookie = 'homeport.preview=evil; Path=/')`,
  'a cookie with the prefix of hosts': `void (document.cookie = '__Host-homeport.preview=evil; Path=/; Secure')`,
  'so many cookies that others are dropped': `void Array.from({ length: 300 }, (_, at) => { document.cookie = 'many' + at + '=1; Max-Age=60'; })`,
  'cookies of the app’s answer': `void (await fetch('/cookies'))`,
  'headers of the app’s answer': `void (await fetch('/headers'))`,
  // Storage of Homeport, where the test has left a word
  'local storage': `localStorage.getItem('canary')`,
  'session storage': `sessionStorage.getItem('canary')`,
  databases: `(await indexedDB.databases()).find(({ name }) => name === 'canary')?.name`,
  caches: `(await caches.keys()).find((name) => name === 'canary')`,
  'private files': `navigator.storage.getDirectory().then((folder) => folder.getFileHandle('canary')).then(({ name }) => name)`,
  broadcasts: `new Promise((resolve) => { new BroadcastChannel('canary').onmessage = ({ data }) => resolve(data); })`,
  locks: `(await navigator.locks.query()).held.find(({ name }) => name === 'canary')?.name`,
  'a worker of Homeport': `new SharedWorker(home + '/assets/x.js') && 'made'`,
  // The page around it
  'the document around it': `parent.document.title`,
  'the address around it': `parent.location.href`,
  'the storage around it': `parent.localStorage.length + ' entries'`,
  'a function around it': `parent.fetch('/api/me').then(() => 'called')`,
  'the element around it': `frameElement?.outerHTML`,
  'the history around it': `parent.history.length + ' pages'`,
  'the page that opened it': `opener?.document.title`,
  'other frames': `[...Array(parent.length).keys()].map((at) => parent[at]).find((each) => each !== window)?.document.title`,
  'leaving by top': `void (top.location = 'about:blank#top')`,
  'leaving by its parent': `void parent.location.replace('about:blank#parent')`,
  'leaving by a script': `void (parent.location = 'javascript:document.title="taken"')`,
  'leaving by a link': `void make('a', { href: 'about:blank#link', target: '_top' }).click()`,
  'leaving by a form': `void make('form', { action: 'about:blank#form', target: '_top' }).submit()`,
  'words for the page around it': `void ['ready', { type: 'ready' }, { type: 'navigate', url: 'about:blank' }, { kind: 'html', source: '<script>' }].forEach((each) => parent.postMessage(each, '*'))`,
  'a window': `open('about:blank#window') ?? undefined`,
  'a window by a link': `void make('a', { href: 'about:blank#blank', target: '_blank' }).click()`,
  'a dialog': `void alert('Your password?')`,
  'a question': `prompt('Your password?')`,
  'the whole screen': `document.documentElement.requestFullscreen().then(() => 'taken')`,
  'another domain': `(document.domain = 'localhost') && document.domain === 'localhost' ? 'taken' : undefined`,
  // Permission prompts of the browser
  'the place': `new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(() => resolve('known'), reject))`,
  'the camera': `navigator.mediaDevices.getUserMedia({ video: true, audio: true }).then(() => 'seen')`,
  'the screen': `navigator.mediaDevices.getDisplayMedia().then(() => 'seen')`,
  'the clipboard': `navigator.clipboard.readText().then((text) => 'read ' + text)`,
  notifications: `Notification.requestPermission().then((word) => (word === 'granted' ? word : undefined))`,
  devices: `navigator.usb.requestDevice({ filters: [] }).then(() => 'given')`,
  payment: `new PaymentRequest([{ supportedMethods: 'https://example.org' }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).show().then(() => 'paid')`,
  'keys of the person': `navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), rpId: 'localhost' } }).then(() => 'given')`,
  'addresses of the machine, by WebRTC': `candidates()`,
  // Homeport itself
  'read the API': `(await withCookies(home + '/api/me')).status`,
  'read the API by another name': `(await withCookies(local + '/api/me')).status`,
  'read the API below localhost': `(await withCookies(local.replace('localhost', 'homeport.localhost') + '/api/me')).status`,
  'read the API by IPv6': `(await withCookies(home.replace('127.0.0.1', '[::1]') + '/api/me')).status`,
  'read the API by an older way': `new Promise((resolve, reject) => { const x = new XMLHttpRequest(); x.open('GET', home + '/api/me'); x.withCredentials = true; x.onload = () => resolve(x.responseText); x.onerror = reject; x.send(); })`,
  'read the API as a script': `loaded(make('script', { src: home + '/api/me' }))`,
  'read the API as a module': `import(home + '/api/me').then(() => 'read')`,
  'read the API as a style': `loaded(make('link', { rel: 'stylesheet', href: home + '/api/me' }))`,
  'read the API as a picture': `loaded(make('img', { src: home + '/api/me' }))`,
  'use a font of Homeport': `new FontFace('taken', 'url(' + home + '/assets/font.woff2)').load().then(() => 'used')`,
  'follow its events': `new Promise((resolve, reject) => { const e = new EventSource(home + '/api/chats/activity', { withCredentials: true }); e.onopen = () => resolve('open'); e.onerror = reject; })`,
  'its terminal': `socketTo(home.replace('http', 'ws') + '/api/workspace/terminal?id=x')`,
  'its terminal by another name': `socketTo(local.replace('http', 'ws') + '/api/workspace/terminal?id=y')`,
  'stop the workspace': `(await withCookies(home + '/api/workspace/status', { method: 'DELETE' })).status`,
  'stop the workspace by another name': `(await withCookies(local + '/api/workspace/status', { method: 'DELETE' })).status`,
  'sign the person out': `void (await withCookies(home + '/api/auth/sign-out', { method: 'POST', mode: 'no-cors' }))`,
  'sign the person out in passing': `void navigator.sendBeacon(home + '/api/auth/sign-out', '{}')`,
  'sign the person out by a form': `void make('form', { action: home + '/api/auth/sign-out', method: 'post', target: make('iframe', { name: 'inner' }).name }).submit()`,
  'make a conversation': `void (await withCookies(home + '/api/chats', { method: 'POST', mode: 'no-cors', body: '{"title":"taken"}' }))`,
  'Homeport in a frame': `framed(home)`,
  'Homeport in an object': `loaded(make('object', { data: home, type: 'text/html' }))`,
  'fetch Homeport ahead': `void make('link', { rel: 'prefetch', href: home + '/api/auth/sign-out' })`,
  'open Homeport ahead': `void make('script', { type: 'speculationrules', textContent: JSON.stringify({ prerender: [{ urls: [home] }] }) })`,
  // Its own address
  'Homeport behind its own address': `/"(email|status)"/.exec(await (await withCookies('/api/me')).text())?.[0]`,
  'Homeport’s files behind its own address': `/homeport/i.exec(await (await withCookies('/assets/index.js')).text())?.[0]`,
  'the path of tickets': `(await fetch('/.homeport/open/' + 'a'.repeat(43))).status === 401 ? undefined : 'answered'`,
  'the path of tickets, written otherwise': `/homeport/i.exec((await fetch('/%2ehomeport/open/x')).headers.get('x-homeport-preview'))?.[0]`,
  'another Host': `hosts({ Host: new URL(home).host })`,
  'a Host of proxies': `hosts({ 'X-Forwarded-Host': new URL(home).host, 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' })`,
  'a name of another port': `(await withCookies(location.origin.replace('4173-', '4174-'))).status`,
  'a preview of somebody else': `(await withCookies(out)).status`,
  'a preview of somebody else in a frame': `framed(out)`,
  'a service worker': `(await navigator.serviceWorker.register('/sw.js')).scope`,
  'a service worker as a module': `(await navigator.serviceWorker.register('/sw.js?m', { type: 'module', scope: '/' })).scope`,
  'a service worker of Homeport': `(await navigator.serviceWorker.register(home + '/sw.js')).scope`,
};

/** Words of Homeport's origin that an app must not find; run in its page. */
export const leaveCanaries = `(async () => {
  for (const storage of [localStorage, sessionStorage]) storage.setItem('canary', 'word');
  await new Promise((resolve) => { indexedDB.open('canary').onsuccess = resolve; });
  await caches.open('canary');
  await (await navigator.storage.getDirectory()).getFileHandle('canary', { create: true });
  void navigator.locks.request('canary', () => new Promise(() => undefined));
  const channel = new BroadcastChannel('canary');
  setInterval(() => channel.postMessage('word'), 50);
})()`;

/** Runs all of them at once, each for a second at most; returns their results. */
export const tryAttacks = (home: string, out: string): string => `(async (home, out) => {
  const local = home.replace('127.0.0.1', 'localhost');
  const make = (name, members) => {
    const made = Object.assign(document.createElement(name), members);
    document.body.append(made);
    return made;
  };
  const set = (line, name) => { document.cookie = line; return document.cookie.includes(name) ? 'set' : undefined; };
  const withCookies = (url, more) => fetch(url, { credentials: 'include', ...more });
  const socketTo = (url) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve('open');
    socket.onerror = reject;
  });
  const loaded = (element) => new Promise((resolve, reject) => {
    element.onload = () => resolve('loaded');
    element.onerror = reject;
  });
  const framed = (src) => new Promise((resolve, reject) => {
    const inner = make('iframe', { src });
    inner.onload = () => {
      try { resolve(inner.contentDocument?.title); } catch (error) { reject(error); }
    };
  });
  const hosts = async (headers) => {
    const path = '/headers-' + Math.random();
    await fetch(path, { headers });
    const seen = (await (await fetch('/seen')).json()).find(({ url }) => url === path).headers;
    const told = JSON.stringify(seen);
    return seen.host !== 'localhost:4173' || /forwarded|127\\.0\\.0\\.1/.test(told) ? told : undefined;
  };
  const candidates = () => new Promise((resolve) => {
    const peer = new RTCPeerConnection();
    peer.createDataChannel('x');
    peer.onicecandidate = ({ candidate }) => {
      const [address] = /(?:\\d+\\.){3}\\d+/.exec(candidate?.candidate ?? '') ?? [];
      if (address !== undefined) resolve(address);
    };
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  });
  const attempts = {
    ${Object.entries(attacks)
      .map(([name, attack]) => `${JSON.stringify(name)}: async () => ${attack},`)
      .join('\n    ')}
  };
  const tried = await Promise.all(Object.entries(attempts).map(async ([name, attack]) => {
    const late = new Promise((resolve) => setTimeout(resolve, 1_000, undefined));
    const result = await Promise.race([attack(), late]).catch(() => 'refused');
    return [name, result === 'refused' || !result ? 'nothing' : 'worked: ' + String(result).slice(0, 200)];
  }));
  return Object.fromEntries(tried);
})(${JSON.stringify(home)}, ${JSON.stringify(out)})`;

/** Attacks of another site on the address of a preview, in the same form. */
const foreignAttacks: Record<string, string> = {
  'its WebSocket': `socketTo(target.replace('http', 'ws') + '/evil-socket')`,
  'a request': `void (await fetch(target + '/evil-get', { mode: 'no-cors', credentials: 'include' }))`,
  'a request that changes something': `void (await fetch(target + '/evil-post', { method: 'POST', mode: 'no-cors', credentials: 'include' }))`,
  'a readable request': `(await fetch(target + '/evil-cors', { credentials: 'include' })).status`,
  'a script': `loaded(make('script', { src: target + '/evil-script' }))`,
  'a picture': `loaded(make('img', { src: target + '/evil-picture' }))`,
  events: `new Promise((resolve, reject) => { const e = new EventSource(target + '/evil-events', { withCredentials: true }); e.onopen = () => resolve('open'); e.onerror = reject; })`,
  'a beacon': `void navigator.sendBeacon(target + '/evil-beacon', 'x')`,
  'a form': `void make('form', { action: target + '/evil-form', method: 'post', target: make('iframe', { name: 'inner' }).name }).submit()`,
  'a frame': `new Promise((resolve) => { make('iframe', { src: target + '/?evil-frame' }); addEventListener('message', ({ data }) => resolve(data)); })`,
};

export const tryForeignAttacks = (target: string): string => `(async (target) => {
  const make = (name, members) => {
    const made = Object.assign(document.createElement(name), members);
    document.body.append(made);
    return made;
  };
  const loaded = (element) => new Promise((resolve, reject) => { element.onload = () => resolve('loaded'); element.onerror = reject; });
  const socketTo = (url) => new Promise((resolve, reject) => { const s = new WebSocket(url); s.onopen = () => resolve('open'); s.onerror = reject; });
  const attempts = {
    ${Object.entries(foreignAttacks)
      .map(([name, attack]) => `${JSON.stringify(name)}: async () => ${attack},`)
      .join('\n    ')}
  };
  const tried = await Promise.all(Object.entries(attempts).map(async ([name, attack]) => {
    const late = new Promise((resolve) => setTimeout(resolve, 1_000, undefined));
    const result = await Promise.race([attack(), late]).catch(() => 'refused');
    return [name, result === 'refused' || !result ? 'nothing' : 'worked: ' + String(result).slice(0, 200)];
  }));
  return Object.fromEntries(tried);
})(${JSON.stringify(target)})`;
