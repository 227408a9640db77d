import { defaultBranding } from '@homeport/contracts/default-branding';
import type { Branding } from '@homeport/contracts/system';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { publicConfigQuery } from '../api/queries.ts';
import type { Translate } from '../i18n/i18n.ts';

/** The installation's branding; index.html contains it, so it is there from the first render. */
export function useBranding() {
  const branding = useQuery(publicConfigQuery).data?.branding;
  if (!branding) throw new Error('The public configuration is read before the first render');
  return branding;
}

/** The tagline; the built-in one in the current language. */
export function taglineOf({ tagline }: Branding, t: Translate): string {
  return tagline === defaultBranding.tagline ? t('brand.tagline') : tagline;
}

let shownTitle: string | undefined;
let plainTitle = '';
let sign: string | undefined;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Sets the page's title, in the tab (`Title · Product`) and in the bar of narrow screens. */
export function useTitle(title: string | undefined): void {
  const { productName } = useBranding();
  useEffect(() => {
    plainTitle = title ? `${title} · ${productName}` : productName;
    writeTitle();
    shownTitle = title;
    for (const listener of listeners) listener();
  }, [title, productName]);
}

/** Puts a prefix before the tab's title on every page; undefined removes it. */
export function setTitlePrefix(next: string | undefined): void {
  sign = next;
  writeTitle();
}

function writeTitle(): void {
  document.title = sign === undefined ? plainTitle : `${sign} ${plainTitle}`;
}

/** The current page's title; undefined if the product's name is enough. */
export function usePageTitle(): string | undefined {
  return useSyncExternalStore(subscribe, () => shownTitle);
}
