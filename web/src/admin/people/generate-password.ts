/** Without look-alike characters (0 O o, 1 l I), which people mistype. */
const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';
const digits = '23456789';
const groups = 4;
const groupLength = 5;

/** A password to pass on: four groups of five, about 115 bits, with letters and digits (contract.md section 3). */
export function generatePassword(): string {
  for (;;) {
    const text = Array.from({ length: groups }, () => pick(groupLength)).join('-');
    if (/[a-zA-Z]/.test(text) && /\d/.test(text)) return text;
  }
}

function pick(length: number): string {
  const alphabet = letters + digits;
  const usable = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    // Bytes beyond the last complete alphabet would make some characters more likely.
    if (byte < usable) text += alphabet[byte % alphabet.length];
  }
  return text;
}
