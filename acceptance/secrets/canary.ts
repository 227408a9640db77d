import { randomBytes } from 'node:crypto';

/** A secret to be looked for, in every spelling it could leak in. */
export type Canary = {
  name: string;
  /** The secret as it is given to the product; quotes, slashes and signs are around its core. */
  value: string;
  /** Permitted places, each with the reason. */
  allowed: { place: RegExp; because: string }[];
  spellings: Map<string, Buffer>;
};

/** Something that was seen: a log, an answer, a table. */
export type Sighting = { place: string; content: Buffer };

/**
 * A secret whose core is letters and digits: escaping and URL encoding leave those as they are, so the core is found in
 * both.
 */
export function canary(name: string, around: (core: string) => string, allowed: Canary['allowed'] = []): Canary {
  const core = randomBytes(15).toString('hex');
  return { name, value: around(core), allowed, spellings: spellingsOf(core) };
}

/** The same for a secret that the product made. */
export function madeSecret(name: string, value: string, allowed: Canary['allowed'] = []): Canary {
  return { name, value, allowed, spellings: spellingsOf(value) };
}

function spellingsOf(core: string): Map<string, Buffer> {
  const bytes = Buffer.from(core);
  const spellings = new Map([
    ['plain', bytes],
    ['hex', Buffer.from(bytes.toString('hex'))],
    ['upper-case hex', Buffer.from(bytes.toString('hex').toUpperCase())],
    ['URL-encoded', Buffer.from(encodeURIComponent(core))],
    ['JSON-escaped', Buffer.from(JSON.stringify(core).slice(1, -1))],
    ['UTF-16', Buffer.from(core, 'utf16le')],
    ['reversed', Buffer.from([...core].reverse().join(''))],
  ]);
  // In base64 three bytes share four characters: where the core begins in them is unknown, and its ends mix with what
  // is around.
  for (const shift of [0, 1, 2]) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const text = Buffer.concat([Buffer.alloc(shift), bytes])
        .toString(encoding)
        .replace(/=+$/, '');
      spellings.set(`${encoding}, shifted ${shift}`, Buffer.from(text.slice(shift === 0 ? 0 : 4, -4)));
    }
  }
  return spellings;
}

/** Every place where a secret is, and may not be. */
export function findLeaks(canaries: readonly Canary[], sightings: readonly Sighting[]): string[] {
  const leaks: string[] = [];
  for (const { place, content } of sightings) {
    for (const { name, allowed, spellings } of canaries) {
      if (allowed.some((exception) => exception.place.test(place))) continue;
      for (const [spelling, bytes] of spellings) {
        const at = content.indexOf(bytes);
        if (at >= 0)
          leaks.push(`${name} (${spelling}) in ${place}: …${content.subarray(Math.max(0, at - 80), at + 20)}…`);
      }
    }
  }
  return leaks;
}
