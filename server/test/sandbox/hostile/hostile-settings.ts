import { skillText, zipOf } from '../../assistants/skill-makers.ts';
import { makeZip } from '../../documents/document-makers.ts';
import type { AttackKind } from './attacks.ts';

const most = 40 * 1024 * 1024;
const many = (text: string, size: number, bytes = most): string =>
  text.repeat(Math.floor(Math.min(bytes / text.length, size)));

/** Uploads of administrators and users other than documents and archives. */
export const hostileSettings: AttackKind[] = [
  {
    format: 'manifest.json',
    to: 'manifest',
    makers: {
      objects: (size) => Buffer.from(`{"version":1,"users":[${many('{},', size * 12)}{}]}`),
      lists: (size) => Buffer.from(`{"version":1,"conversations":[${many('[[],[]],', size * 4)}[]]}`),
      names: (size) =>
        Buffer.from(
          `{"version":1,"branding":{${Array.from({ length: size }, (_, index) => `"n${index}":0`).join(',')}}}`,
        ),
      depth: (size) => Buffer.from(`{"version":1,"users":${many('[', size)}`),
    },
  },
  {
    format: 'skill.zip',
    to: 'skills',
    makers: {
      entries: (size) =>
        makeZip(Object.fromEntries(Array.from({ length: Math.min(60_000, size) }, (_, index) => [`f${index}`, '']))),
      bomb: (size) =>
        zipOf(
          { name: 'SKILL.md', content: skillText('a') },
          { name: 'b', content: Buffer.alloc(size * 100), claimed: 9 },
        ),
      names: (size) =>
        makeZip(
          Object.fromEntries(
            Array.from({ length: Math.min(400, size) }, (_, index) => [`${'a'.repeat(60_000)}${index}`, '']),
          ),
        ),
      front: (size) => Buffer.from(`---\nname: a\ndescription: ${many('[', size, 200_000)}\n---\n`),
    },
  },
  {
    format: 'registry.json',
    to: 'registry',
    makers: {
      objects: (size) => Buffer.from(`{"source":"x","providers":{"a":{"models":[${many('{},', size, 4_000_000)}{}]}}}`),
      names: (size) =>
        Buffer.from(
          `{"source":"x","providers":{"a":{"models":{${Array.from({ length: Math.min(29_000, size) }, (_, index) => `"n${index}":{}`).join(',')}}}}}`,
        ),
      depth: (size) => Buffer.from(`{"source":${many('[', size, 4_000_000)}`),
    },
  },
];
