/** In this order: later names are part of the earlier ones' user agents. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS|Chromium)\//],
  ['Safari', /\bSafari\//],
] as const;
const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** Names of the browser and the operating system in a user agent; undefined for unknown ones. */
export function browserName(userAgent: string | null): { browser: string | undefined; system: string | undefined } {
  const text = userAgent ?? '';
  const find = (table: readonly (readonly [string, RegExp])[]) => table.find(([, pattern]) => pattern.test(text))?.[0];
  const isBrowser = text.startsWith('Mozilla/');
  return { browser: isBrowser ? find(browsers) : /^[\w.-]{1,40}/.exec(text)?.[0], system: find(systems) };
}
