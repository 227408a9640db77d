import type { Audience } from '@homeport/contracts/catalogue/sharing';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import type { Skill } from '@homeport/contracts/skills';
import type { WorkspaceEntry } from '@homeport/contracts/workspace/daemon';
import { sourceOf } from '../incoming-files.ts';
import { ApiFailure, readFailure } from './api-failure.ts';
import { setProxySession } from './proxy-session.ts';

/** Namespace of files: a conversation's (its project's, if it is in one), a project's or an assistant's. */
export type FileScope =
  | { chatId: string; projectId?: undefined; assistantId?: undefined }
  | { chatId?: undefined; projectId: string; assistantId?: undefined }
  | { chatId?: undefined; projectId?: undefined; assistantId: string };

/**
 * Uploads one file; `onProgress` gets the fraction sent, 0 to 1. A taken path gets a number. Throws `ApiFailure`; an
 * abort throws the signal's reason. Uses XMLHttpRequest because `fetch` does not report upload progress.
 */
export function uploadFile(
  file: File,
  target: { scope: FileScope; path: string },
  options: UploadOptions,
): Promise<Artifact> {
  const fields = { ...target.scope, path: target.path, source: sourceOf(file) };
  return sendForm('/api/artifacts', fields, file, options, (text) => parseMember<Artifact>(text, 'artifact'));
}

/** Uploads a file to the user's workspace, like `uploadFile`. */
export function uploadWorkspaceFile(file: File, path: string, options: UploadOptions): Promise<WorkspaceEntry> {
  return sendForm('/api/workspace/files', { path }, file, options, (text) => parseMember<WorkspaceEntry>(text, 'file'));
}

/** Uploads a skill: a zip archive of its folder, or a `SKILL.md`. */
export function uploadSkill(file: File, fields: SkillFields, signal: AbortSignal): Promise<Skill> {
  return sendForm('/api/skills', fields, file, { onProgress: () => undefined, signal }, (text) =>
    parseMember<Skill>(text, 'skill'),
  );
}

/** Uploads the export of another application for a preview, as a raw body of any size. */
export function uploadArchive(file: File, options: UploadOptions): Promise<void> {
  const query = new URLSearchParams({ dryRun: '1', filename: file.name.slice(0, 255) });
  return send(`/api/imports?${query}`, file, options, 202, () => true).then(() => undefined);
}

/** For whom it is; with `id`, the files take the place of those of that skill. */
type SkillFields = { id?: string; audience?: Audience; projectId?: string };

export type UploadOptions = { onProgress: (share: number) => void; signal: AbortSignal };

function sendForm<T>(
  address: string,
  fields: Record<string, string | undefined>,
  file: File,
  options: UploadOptions,
  parse: (text: string) => T | undefined,
): Promise<T> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, value);
  // Last, because the server reads the fields before it accepts bytes.
  form.append('file', file, file.name);
  return send(address, form, options, 201, parse);
}

function send<T>(
  address: string,
  body: FormData | File,
  options: UploadOptions,
  status: number,
  parse: (text: string) => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let bytes = body instanceof File ? body.size : undefined;
    const abort = () => request.abort();
    options.signal.addEventListener('abort', abort);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) bytes = event.total;
      if (event.lengthComputable && event.total > 0) options.onProgress(event.loaded / event.total);
    };
    request.onerror = () => reject(new ApiFailure('network', ''));
    request.onabort = () => reject(options.signal.reason ?? new ApiFailure('network', ''));
    request.onload = () => {
      const answer = request.status === status ? parse(request.responseText) : undefined;
      if (answer) return resolve(answer);
      const failure = failureOf(request, new URL(address, location.href).href, bytes);
      setProxySession(failure.code === 'proxy_sign_in');
      reject(failure);
    };
    request.onloadend = () => options.signal.removeEventListener('abort', abort);
    request.open('POST', address);
    request.send(body);
  });
}

/** No endpoint redirects: a sign-in service in front of the server does, once its session has ended. */
function failureOf(request: XMLHttpRequest, address: string, bytes: number | undefined): ApiFailure {
  const isElsewhere = request.responseURL !== '' && request.responseURL !== address;
  if (isElsewhere) return new ApiFailure('proxy_sign_in', '', { status: request.status });
  return readFailure(request.status, headersOf(request), request.responseText, bytes);
}

function headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const name of ['x-request-id', 'retry-after', 'server']) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}

function parseMember<T>(text: string, name: string): T | undefined {
  try {
    const answer: Record<string, T> = JSON.parse(text);
    return answer[name];
  } catch {
    return undefined;
  }
}
