import highlightWorker from './markdown/code/highlight.worker.ts?worker&url';

/**
 * Installs the Trusted Types default policy before anything renders. Mantine writes CSS variables through the innerHTML
 * of a `<style>`; a string without `<` cannot open an element, and all others are refused. Of script addresses only the
 * worker's is allowed; inline scripts have no rule, so the browser refuses them.
 */
export function installTrustedTypes(): void {
  const factory = Reflect.get(globalThis, 'trustedTypes');
  if (!factory) return;
  factory.createPolicy('default', {
    createHTML: (text: string) => (text.includes('<') ? null : text),
    createScriptURL: (address: string) => (address === highlightWorker ? address : null),
  });
}
