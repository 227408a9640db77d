import { Parser } from 'htmlparser2';
import { DocumentRefused, deepestNesting, tooDeep } from '../document.ts';
import { decoderFor } from './encodings/text-encoding.ts';

/**
 * XML of office files as events. Entities that a file declares itself are refused, wherever they lead; nothing is ever
 * fetched.
 */

export type XmlAttributes = Record<string, string>;

/** Names come without their prefixes, attributes with them. Text may come in pieces. */
export type XmlEvents = {
  open?(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  text?(text: string): void;
};

const sliceBytes = 64 * 1024;

export function readXml(bytes: Uint8Array, events: XmlEvents): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > deepestNesting) throw tooDeep();
        events.open?.(localName(name), attributes);
      },
      onclosetag(name) {
        depth -= 1;
        events.close?.(localName(name));
      },
      ontext: (text) => events.text?.(text),
      onprocessinginstruction: (name, data) => {
        if (/^!(?:entity|doctype)/i.test(name) && /\[|<!|entity/i.test(data)) throw ownEntities();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = decoderFor(bytes);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    parser.write(decoder.decode(bytes.subarray(at, at + sliceBytes), { stream: true }));
  }
  parser.end(decoder.decode());
}

/** The attribute of that name, under whatever prefix. */
export function attributeOf(attributes: XmlAttributes, name: string): string | undefined {
  const plain = attributes[name];
  if (plain !== undefined) return plain;
  const key = Object.keys(attributes).find((known) => known.endsWith(`:${name}`));
  return key === undefined ? undefined : attributes[key];
}

/** The id of a relation is an attribute with a prefix; a plain `id` next to it can mean something else. */
export function relationId(attributes: XmlAttributes): string | undefined {
  const key = Object.keys(attributes).find((known) => known.endsWith(':id'));
  return key === undefined ? undefined : attributes[key];
}

/** A count in an attribute: 1 when it is missing or nonsense. */
export function countOf(value: string | undefined): number {
  const count = Number(value ?? 1);
  return Number.isInteger(count) && count > 0 ? count : 1;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function ownEntities(): DocumentRefused {
  return new DocumentRefused('unsafe', 'The file declares XML entities of its own and is not read.');
}
