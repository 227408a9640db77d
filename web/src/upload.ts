import type { Artifact } from '@homeport/contracts/artifacts';
import { ApiFailure, readFailure } from './api-failure.ts';

/** Where files live: a conversation's namespace (its project's, where it is in one) or a project's. */
export type FileScope = { chatId: string; projectId?: undefined } | { chatId?: undefined; projectId: string };

/**
 * Uploads one file; `onProgress` hears the share that has left, 0 to 1. A taken path gets a number. Throws `ApiFailure`; an abort
 * throws the signal's reason. XMLHttpRequest, because `fetch` tells nothing of what has been sent.
 */
export function uploadFile(
  file: File,
  target: { scope: FileScope; path: string },
  options: { onProgress: (share: number) => void; signal: AbortSignal },
): Promise<Artifact> {
  const form = new FormData();
  for (const [name, id] of Object.entries(target.scope)) if (id !== undefined) form.append(name, id);
  form.append('path', target.path);
  // Last: the server reads the fields before it accepts bytes.
  form.append('file', file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    options.signal.addEventListener('abort', abort);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) options.onProgress(event.loaded / event.total);
    };
    request.onerror = () => reject(new ApiFailure('network', ''));
    request.onabort = () => reject(options.signal.reason ?? new ApiFailure('network', ''));
    request.onload = () => {
      const artifact = request.status === 201 ? parseArtifact(request.responseText) : undefined;
      if (artifact) resolve(artifact);
      else reject(readFailure(request.status, headersOf(request), request.responseText));
    };
    request.onloadend = () => options.signal.removeEventListener('abort', abort);
    request.open('POST', '/api/artifacts');
    request.send(form);
  });
}

function headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const name of ['x-request-id', 'retry-after']) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}

function parseArtifact(text: string): Artifact | undefined {
  try {
    const answer: { artifact?: Artifact } = JSON.parse(text);
    return answer.artifact;
  } catch {
    return undefined;
  }
}
