import highlightWorker from './markdown/highlight.worker.ts?worker&url';

/**
 * Installs the Trusted Types default policy before anything renders. Mantine writes its CSS variables through innerHTML of
 * a `<style>`; a string without `<` cannot open an element, and everything else is refused. Of script
 * addresses the worker's own is let through; scripts have no rule, so the browser refuses them all.
 */
export function installTrustedTypes(): void {
  const factory = Reflect.get(globalThis, 'trustedTypes');
  if (!factory) return;
  factory.createPolicy('default', {
    createHTML: (text: string) => (text.includes('<') ? null : text),
    createScriptURL: (address: string) => (address === highlightWorker ? address : null),
  });
}
