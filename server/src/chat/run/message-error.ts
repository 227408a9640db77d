import type { ErrorDetails, Frame, MessageError } from '@homeport/contracts/chat/frames';
import type { ApiError } from '@homeport/contracts/errors';
import { isRecord } from '../model/stream/storable-text.ts';

/** The error that a message keeps: code, English text, and the facts that clients make texts from. */
export function messageError({ code, message, details }: ApiError): MessageError {
  const facts = isRecord(details) ? factsOf(details) : {};
  return { code, message, ...(Object.keys(facts).length === 0 ? {} : { details: facts }) };
}

export function errorFrame({ code, message, details }: MessageError): Frame {
  return { type: 'error', errorText: message, code, ...(details === undefined ? {} : { details }) };
}

const maxLength = 400;
const maxValues = 10;

function factsOf({ reason, phase, status, values, providerMessage }: Record<string, unknown>): ErrorDetails {
  return {
    ...(isShort(reason) ? { reason } : {}),
    ...(isShort(phase) ? { phase } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    ...(isRecord(values) ? { values: valuesOf(values) } : {}),
    ...(isShort(providerMessage) ? { providerMessage } : {}),
  };
}

function valuesOf(values: Record<string, unknown>): Record<string, string | number> {
  const kept = Object.entries(values).filter(
    (entry): entry is [string, string | number] => isShort(entry[1]) || typeof entry[1] === 'number',
  );
  return Object.fromEntries(kept.slice(0, maxValues));
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxLength;
}
