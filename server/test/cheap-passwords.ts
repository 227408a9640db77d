import crypto, { type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Tests that sign in users by the hundred hash as the product does, at a thousandth of its cost. Imported for that
 * effect.
 */

const { scrypt } = crypto;
/**
 * `areCheap`: set to false by a test that needs a hash as the product makes it. `costs`: the intended cost of each
 * hash.
 */
export const passwords: { areCheap: boolean; costs: ScryptOptions[] } = { areCheap: true, costs: [] };
type Callback = (error: Error | null, key: Buffer) => void;
Object.assign(crypto, {
  scrypt: (password: string, salt: string, bytes: number, cost: ScryptOptions, callback: Callback) => {
    passwords.costs.push(cost);
    scrypt(password, salt, bytes, passwords.areCheap ? { ...cost, N: 16 } : cost, callback);
  },
});
syncBuiltinESMExports();
