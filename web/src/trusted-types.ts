/**
 * Installs the Trusted Types default policy before anything renders. Mantine writes its CSS variables through innerHTML of
 * a `<style>`; a string without `<` cannot open an element, and everything else is refused. Scripts and script
 * addresses have no rule, so the browser refuses them all.
 */
export function installTrustedTypes(): void {
  const factory = Reflect.get(globalThis, 'trustedTypes');
  if (!factory) return;
  factory.createPolicy('default', { createHTML: (text: string) => (text.includes('<') ? null : text) });
}
