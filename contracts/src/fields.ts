import { z } from 'zod';
import { clientIdPattern, limits } from './limits.ts';
import { normalEmail } from './text/email.ts';
import { line } from './text/line.ts';

/** Field schemas that several endpoints share. */
export const id = z.string().min(1).max(limits.clientIdMax);
export const clientId = z.string().regex(clientIdPattern, 'Letters, digits, "_" and "-" only, 1 to 128 characters');
export const timestamp = z.iso.datetime();
const [firstTime, endOfTimes] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('+010000-01-01T00:00:00Z')];
/** RFC 3339 with any offset; the year has four digits, in UTC as well. */
export const anyTime = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) >= firstTime && Date.parse(text) < endOfTimes, {
    message: 'A time of the years 0 to 9999 in UTC',
  });
/** A time from a request, 1970 to 9999. */
export const givenTime = anyTime.refine((text) => Date.parse(text) >= 0, { message: 'A time after 1970' });
export const personName = line(limits.nameMin, limits.nameMax);
/** An address in its normal form (`normalEmail`). */
export const email = z
  .string()
  .trim()
  .overwrite((text) => (text.length > limits.emailMax ? text : (normalEmail(text) ?? text)))
  .max(limits.emailMax)
  .refine((text) => normalEmail(text) === text, { message: 'An e-mail address' })
  .meta({ format: 'email' });
export const newPassword = z
  .string()
  .min(limits.passwordMin)
  .max(limits.passwordMax)
  .regex(/\p{L}/u, 'At least one letter')
  .regex(/\p{Nd}/u, 'At least one digit');
export const booleanFlag = z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true');
export const pageLimit = z
  .string()
  .regex(/^\d{1,4}$/)
  .transform(Number)
  .pipe(z.number().int().min(1).max(limits.pageMax))
  .optional();
export const cursor = z.string().min(1).max(512).optional();
export const ok = z.object({ ok: z.literal(true) });

export const role = z.enum(['admin', 'user']);
export type Role = z.infer<typeof role>;

/** A user as `/api/me` returns them (control-plane-api.md "Session endpoints"). */
export const user = z.object({
  id,
  name: z.string(),
  email: z.string(),
  role,
  enabled: z.boolean(),
  mustChangePassword: z.boolean(),
  providerSettingsEnabled: z.boolean(),
  mcpSettingsEnabled: z.boolean(),
});
export type User = z.infer<typeof user>;

/** Instructions that precede the messages; null: none. */
export const instructions = z.string().max(limits.instructionsMax).nullable();

/** A server's address as entered; the outbound guard decides at each call whether it is allowed. */
export const serverAddress = z
  .string()
  .trim()
  .max(limits.baseUrlMax)
  .refine(isServerAddress, { message: 'An absolute http or https URL without user name or password' });

export function isServerAddress(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  // The parser drops an empty user name.
  return url.username === '' && url.password === '' && !/^[^/?#]*\/\/[^/?#]*@/.test(value) && url.hash === '';
}
