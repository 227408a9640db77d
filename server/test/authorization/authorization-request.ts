import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { formBody } from '../artifacts/artifact-makers.ts';
import type { SampleRequest } from './authorization-sample.ts';

/** A sample as an HTTP request. */

/** Path and query. */
export function addressOf(spec: Pick<EndpointSpec, 'path'>, { params, query }: SampleRequest): string {
  const path = spec.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''));
  return query === undefined ? path : `${path}?${new URLSearchParams(query)}`;
}

export function bodyOf({ body, form, file = 'A new file', upload }: SampleRequest) {
  if (upload !== undefined) return { body: upload, contentType: 'text/plain' };
  if (form !== undefined) {
    const fields = Object.entries(form).map(([name, value]) => ({ name, value }));
    return formBody([...fields, { name: 'file', value: file, filename: 'new.txt' }]);
  }
  return body === undefined ? {} : { body: JSON.stringify(body), contentType: 'application/json' };
}
