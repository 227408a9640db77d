import { decodeHTML } from 'entities/decode';

/** Decodes character references as a browser does, for tests that have none. */
class Textarea {
  value = '';

  set innerHTML(text: string) {
    this.value = decodeHTML(text);
  }
}

Object.assign(globalThis, { document: { createElement: () => new Textarea() } });
