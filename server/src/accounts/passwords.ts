import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { Semaphore } from '../platform/concurrency/semaphore.ts';

// Stored as `<salt hex>:<key hex>`; hashes in existing installations have this form and cost.
const cost = { N: 16_384, r: 16, p: 1, maxmem: 128 * 16_384 * 16 * 2 };
const keyBytes = 64;

// Each hash takes 32 MB and one of four libuv threads for about 60 ms: two at a time leave threads for files and DNS.
const most = { running: 2, waiting: 200 };
const slots = new Semaphore(most.running);

/** Hashes a new password; throws `rate_limited` if too many hashes are waiting. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16).toString('hex');
  return `${salt}:${(await deriveKey(password, salt)).toString('hex')}`;
}

/** True if the password matches the hash. A stored text of another form matches nothing and costs as much. */
export async function verifyPassword(stored: string, password: string): Promise<boolean> {
  const [salt = '', key = ''] = stored.split(':');
  const expected = Buffer.from(key, 'hex');
  const given = await deriveKey(password, salt);
  return salt !== '' && expected.length === given.length && timingSafeEqual(expected, given);
}

async function deriveKey(password: string, salt: string): Promise<Buffer> {
  if (slots.isFull && slots.waiting >= most.waiting) {
    throw new ApiError('rate_limited', 'Too many sign-ins right now. Try again in a moment.', { retryAfter: 5 });
  }
  return slots.run(
    () =>
      new Promise((resolve, reject) => {
        scrypt(password.normalize('NFKC'), salt, keyBytes, cost, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
  );
}
