import type { Json } from '../product.ts';
import type { Sighting } from './canary.ts';

export type Seen = { status: number; headers: Headers; text: string; body: Json };

/** A caller that remembers every answer, byte for byte and header for header. */
export class Witness {
  readonly sightings: Sighting[] = [];
  readonly url: string;
  cookie = '';

  constructor(url: string) {
    this.url = url;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Seen> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const place = `${method} ${path} ${response.status}`;
    this.sightings.push({ place: `body of ${place}`, content: Buffer.from(text) });
    for (const [name, value] of response.headers) {
      this.sightings.push({ place: `header ${name} of ${place}`, content: Buffer.from(value) });
    }
    const isJson = text !== '' && (response.headers.get('content-type') ?? '').startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** The same, and keeps the session that the answer opens. */
  async signIn(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Seen> {
    const seen = await this.call(method, path, body, headers);
    this.cookie = seen.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return seen;
  }
}
