import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';

const localesFolder = new URL('../src/locales/', import.meta.url);
const i18nFile = fileURLToPath(new URL('../src/i18n/i18n.ts', import.meta.url));
const idsFile = new URL('../src/i18n/text-ids.ts', import.meta.url);
/** Texts of the first page load. Every other area is loaded with the part that imports it. */
const mainArea = 'main';

/**
 * Serves the texts of src/locales/<locale>/, compiled from ICU MessageFormat at build time, so that the
 * browser needs no parser. A malformed text fails the build with its id. An area is a file at any depth, named after it.
 *
 * - `virtual:catalogue/<locale>`: the texts of a locale, for English those of the first page load
 * - `virtual:texts/<area>`: loads the English texts of an area
 * - `virtual:catalogues`: a loader for each other locale
 *
 * Also writes src/i18n/text-ids.ts, the union of all ids.
 */
export function catalogue(): Plugin {
  return {
    name: 'homeport-catalogue',
    buildStart: writeTextIds,
    resolveId: (id) => (id.startsWith('virtual:') ? `\0${id}` : undefined),
    async load(id) {
      const [, kind, name = ''] = /^\0virtual:(\w+)(?:\/([\w-]+))?$/.exec(id) ?? [];
      const compile = async (locale: string, areas: readonly string[]): Promise<string> => {
        for (const area of areas) this.addWatchFile(fileURLToPath(fileOf(locale, area)));
        return JSON.stringify(await compileAreas(locale, areas));
      };
      if (kind === 'catalogues') return `export const catalogues = {${otherLocales().map(loaderOf).join()}};`;
      if (kind === 'catalogue') {
        return `export default ${await compile(name, name === 'en' ? [mainArea] : listAreas(name))};`;
      }
      if (kind !== 'texts') return undefined;
      return `import { i18n } from ${JSON.stringify(i18nFile)};\ni18n.load('en', ${await compile('en', [name])});`;
    },
  };
}

/** The areas of a locale, in order. Throws if two files have the same name. */
export function listAreas(locale: string): string[] {
  return [...filesOf(locale).keys()].sort();
}

/** The path of each area's file from the folder of the locale. */
function filesOf(locale: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const path of globSync('**/*.ts', { cwd: fileURLToPath(new URL(`${locale}/`, localesFolder)) })) {
    const area = basename(path, '.ts');
    if (files.has(area)) throw new Error(`Two files of texts are named ${area}.ts`);
    files.set(area, path);
  }
  return files;
}

/** The module with the union of all text ids. */
export function textIdsModule(): string {
  const files = [...filesOf('en')].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const nameOf = (area: string): string => area.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const imports = files.map(([area, path]) => `import type { texts as ${nameOf(area)} } from '../locales/en/${path}';`);
  const members = files.map(([area]) => `  | keyof typeof ${nameOf(area)}`);
  return `// Generated from web/src/locales/en/ by web/build/catalogue-plugin.ts.
${imports.join('\n')}

/** Id of a text. An unknown one does not compile. */
export type TextId =
${members.join('\n')};
`;
}

function writeTextIds(): void {
  const text = textIdsModule();
  if (readFileSync(idsFile, 'utf8') !== text) writeFileSync(idsFile, text);
}

function otherLocales(): string[] {
  return readdirSync(localesFolder).filter((locale) => locale !== 'en');
}

function loaderOf(locale: string): string {
  return `${JSON.stringify(locale)}: () => import('virtual:catalogue/${locale}')`;
}

function fileOf(locale: string, area: string): URL {
  const path = filesOf(locale).get(area);
  if (path === undefined) throw new Error(`There are no texts named ${area}`);
  return new URL(`${locale}/${path}`, localesFolder);
}

async function compileAreas(locale: string, areas: readonly string[]) {
  const texts = await Promise.all(areas.map((area) => loadTexts(fileOf(locale, area))));
  return Object.fromEntries(texts.flatMap(Object.entries<string>).map(([id, text]) => [id, compileText(id, text)]));
}

async function loadTexts(file: URL): Promise<Record<string, string>> {
  const module: { texts: Record<string, string> } = await import(
    `${pathToFileURL(fileURLToPath(file)).href}?t=${Date.now()}`
  );
  return module.texts;
}

function compileText(id: string, text: string) {
  try {
    return compileMessageOrThrow(text);
  } catch (error) {
    throw new Error(`Text "${id}" is not valid ICU MessageFormat: ${String(error)}`, { cause: error });
  }
}
