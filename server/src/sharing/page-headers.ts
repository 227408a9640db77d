/** Headers of everything that readers of a share get: kept out of search engines, frames and Referer. */
export const sharedPageHeaders: Readonly<Record<string, string>> = {
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

/** The token in the address of a share's page; undefined for other paths. */
export function sharePageToken(path: string): string | undefined {
  return /^\/s\/([\w-]{1,128})\/?$/.exec(path)?.[1];
}

/** True for the page of a share, known or not. */
export function isSharePath(path: string): boolean {
  return /^\/s(?:\/|$)/.test(path);
}
