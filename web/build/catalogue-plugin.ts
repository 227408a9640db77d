import { pathToFileURL } from 'node:url';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';

const prefix = 'virtual:catalogue/';

/**
 * Serves `virtual:catalogue/<locale>`: the texts of src/locales/<locale>.ts, compiled from ICU MessageFormat at build
 * time, so that the browser needs no parser. A malformed text fails the build with its id.
 */
export function catalogue(): Plugin {
  return {
    name: 'homeport-catalogue',
    resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : undefined),
    async load(id) {
      if (!id.startsWith(`\0${prefix}`)) return undefined;
      const locale = id.slice(prefix.length + 1);
      const file = new URL(`../src/locales/${locale}.ts`, import.meta.url);
      this.addWatchFile(file.pathname);
      const texts = await loadTexts(file.pathname);
      const compiled = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, compileText(key, text)]));
      return `export default ${JSON.stringify(compiled)};`;
    },
  };
}

async function loadTexts(file: string): Promise<Record<string, string>> {
  const module: { texts: Record<string, string> } = await import(`${pathToFileURL(file).href}?t=${Date.now()}`);
  return module.texts;
}

function compileText(id: string, text: string) {
  try {
    return compileMessageOrThrow(text);
  } catch (error) {
    throw new Error(`Text "${id}" is not valid ICU MessageFormat: ${String(error)}`, { cause: error });
  }
}
