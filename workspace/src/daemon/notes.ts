import { accessSync, constants, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { clock } from '../clock.ts';
import { readStart } from './file-system/read-start.ts';
import { type Exchange, sendJson } from './http.ts';
import type { Daemon } from './state.ts';

const foldersMax = 2_000;
const depthMax = 4;
const searchMs = 400;
const fileBytesMax = 32 * 1024;
const agentsMax = 50;
const skillsMax = 100;
const skillHeadBytes = 4 * 1024;
const sliceMs = 15;
const namesMax = 2_000;

/** Programs that a model may want to know of. */
const programs = [
  ...[
    'python3',
    'pip3',
    'uv',
    'node',
    'npm',
    'npx',
    'git',
    'rg',
    'jq',
    'curl',
    'gcc',
    'make',
    'go',
    'cargo',
    'java',
    'php',
    'ruby',
  ],
  ...['pandoc', 'pdftotext', 'pdftoppm', 'pdfimages', 'qpdf', 'antiword', 'catdoc', 'catppt', 'xls2csv', 'docx2txt'],
  ...['pptx2txt', 'soffice', 'tesseract', 'ffmpeg', 'convert', 'magick', 'exiftool', 'sqlite3', 'psql', 'duckdb'],
  ...['unzip', 'zip', '7z', 'ssh', 'rsync', 'wget', 'bun', 'deno', 'perl', 'Rscript', 'typst', 'xelatex', 'chromium'],
];
/** Modules of Python, by the folder or file that each has. */
const modules = [
  ...['docx', 'openpyxl', 'pptx', 'odf', 'xlrd', 'lxml', 'bs4', 'pypdf', 'pdfplumber', 'PIL', 'requests', 'yaml'],
  ...[
    'numpy',
    'pandas',
    'polars',
    'scipy',
    'sklearn',
    'matplotlib',
    'seaborn',
    'sympy',
    'torch',
    'openai',
    'flask',
    'fastapi',
  ],
];
/** Most of what is looked for is nowhere, and an error made for each would cost more than all else. */
const quietly = { throwIfNoEntry: false } as const;
const leftOut = new Set(['node_modules', '__pycache__']);

/** Returns the home's notes for the prompt: AGENTS.md files, skills and installed programs (GET /v1/notes). */
export async function getNotes(exchange: Exchange, { config }: Daemon): Promise<void> {
  const agents: { folder: string; text: string }[] = [];
  const skills: { path: string; head: string }[] = [];
  const until = clock.elapsed() + searchMs;
  const queue = [''];
  let sliceEnd = clock.elapsed() + sliceMs;
  for (let at = 0; at < queue.length && at < foldersMax && clock.elapsed() < until; at += 1) {
    if (clock.elapsed() > sliceEnd) {
      await setImmediate();
      sliceEnd = clock.elapsed() + sliceMs;
    }
    const folder = queue[at] ?? '';
    const names = foldersIn(config.home, folder);
    const text = agents.length < agentsMax ? textOf(config.home, join(folder, 'AGENTS.md'), fileBytesMax) : undefined;
    if (text !== undefined && text.trim() !== '') agents.push({ folder: shown(folder), text });
    const places = [join(folder, '.agents/skills'), ...(folder === '' ? ['skills'] : [])];
    for (const place of places) skills.push(...skillsIn(config.home, place));
    if (folder.split('/').length > depthMax) continue;
    queue.push(
      ...names.filter((name) => !name.startsWith('.') && !leftOut.has(name)).map((name) => join(folder, name)),
    );
  }
  const found = programs.filter((name) => isThere(name, config.commandEnvironment.PATH ?? ''));
  const pythonModules = found.includes('python3') ? findModules(config.home) : [];
  sendJson(exchange, 200, { programs: found, pythonModules, agents, skills: skills.slice(0, skillsMax) });
}

function skillsIn(home: string, place: string): { path: string; head: string }[] {
  return foldersIn(home, place)
    .slice(0, skillsMax)
    .flatMap((name) => {
      const path = join(place, name, 'SKILL.md');
      const head = textOf(home, path, skillHeadBytes);
      return head === undefined ? [] : [{ path: shown(path), head }];
    });
}

/** Real folders only: a link may lead anywhere. */
function foldersIn(home: string, folder: string): string[] {
  try {
    if (lstatSync(join(home, folder), quietly)?.isDirectory() !== true) return [];
    return readdirSync(join(home, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.includes('\ufffd'))
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

/** The beginning of a file; undefined for what is no file. */
function textOf(home: string, path: string, maxBytes: number): string | undefined {
  try {
    const file = join(home, path);
    if (lstatSync(file, quietly) === undefined) return undefined;
    return new TextDecoder().decode(readStart(file, maxBytes));
  } catch {
    return undefined;
  }
}

function isThere(program: string, path: string): boolean {
  return path.split(':').some((folder) => {
    const file = join(folder, program);
    try {
      if (statSync(file, quietly) === undefined) return false;
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** In the folders that Python looks into outside a venv; nothing of it is run. */
function findModules(home: string): string[] {
  const versions = ['/usr/lib', '/usr/local/lib', join(home, '.local/lib')].flatMap((folder) =>
    namesIn(folder)
      .filter((name) => /^python3(\.\d+)?$/.test(name))
      .flatMap((name) => ['dist-packages', 'site-packages'].map((packages) => join(folder, name, packages))),
  );
  const found = new Set(versions.flatMap(namesIn));
  return modules.filter((name) => found.has(name) || found.has(`${name}.py`));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, namesMax);
  } catch {
    return [];
  }
}

function shown(path: string): string {
  return path === '' ? '~' : `~/${path}`;
}
