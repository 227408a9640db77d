import { type ComponentType, useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure } from './toasts.tsx';

/** `preload` fetches the part before its first use, and ignores failures. */
export type LazyComponent<P extends object> = ComponentType<P> & { preload: () => void };

/**
 * A part of the page that is loaded when first shown. If it cannot be loaded, for example offline, the page stays as it
 * is and the part appears once the network is back.
 */
export function lazyComponent<P extends object>(load: () => Promise<ComponentType<P>>): LazyComponent<P> {
  let known: ComponentType<P> | undefined;
  const keep = (part: ComponentType<P>) => {
    known = part;
    return part;
  };
  function Part(props: P) {
    const t = useText();
    const [Loaded, setLoaded] = useState<ComponentType<P> | undefined>(() => known);
    useEffect(() => {
      // A part brings its texts, which restart this effect: the previous attempt may have loaded it already.
      const part = known;
      if (part) {
        setLoaded(() => part);
        return;
      }
      const abort = new AbortController();
      const { signal } = abort;
      const attempt = () =>
        load().then(
          (part) => {
            keep(part);
            if (!signal.aborted) setLoaded(() => part);
          },
          () => {
            if (signal.aborted) return;
            const fail = () => showFailure(t('nav.changeFailed'), t('failure.network'));
            // Banners name the reason why a server does not answer.
            call('GET /api/health', {}).then(fail, () => {});
            window.addEventListener('online', () => void attempt(), { once: true, signal });
          },
        );
      void attempt();
      return () => abort.abort();
    }, [t]);
    return Loaded ? <Loaded {...props} /> : null;
  }
  return Object.assign(Part, { preload: () => void load().then(keep, () => {}) });
}
