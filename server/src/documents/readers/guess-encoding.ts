/**
 * Which encoding bytes without a mark are in that are not UTF-8: told by what is common in the languages that use it.
 */

const looked = 64 * 1024;

/**
 * One byte a character. Of these characters texts beyond ASCII consist for the most part; earlier ones win where it is
 * equal.
 */
const singleByte: [string, string][] = [
  ['windows-1252', 'äöüÄÖÜßéèêëàâáíîïóôúûùñçåøæœãõ’“”„–…«»°€§'],
  ['windows-1250', 'ąćęłńóśźżĄĆĘŁŃŚŹŻáčďéěíňřšťúůýžőűäöüßăâîşţ„”–…'],
  ['iso-8859-2', 'ąćęłńóśźżĄĆĘŁŃŚŹŻáčďéěíňřšťúůýžőűäöüßăâîşţ'],
  ['windows-1254', 'çğıöşüâîÇĞİÖŞÜ’“”–'],
  ['windows-1251', 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё'],
  ['koi8-r', 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё'],
  ['ibm866', 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё'],
  ['windows-1253', 'αοιετνσηρπκμλςυδάίόέήώύγθχφβωξζψ'],
  ['iso-8859-7', 'αοιετνσηρπκμλςυδάίόέήώύγθχφβωξζψ'],
  ['windows-1255', 'יוהלאמרבתשנכדקעחפטגסזםןצךףץ'],
  ['windows-1256', 'ايلمنوترةبعدفسقكحهجشصطخأءضذزثىغظإؤئآ،'],
  ['windows-874', 'านรอกเงมยลวดทตสตหปบพคจขแใไโะิีึืุูั่้์็ำ'],
];

/** Two bytes for most characters: which first bytes the common ones have. */
const doubleByte: { name: string; first: (byte: number) => boolean; least: number }[] = [
  // Hiragana and katakana, of which no other language has many.
  { name: 'euc-jp', first: (byte) => byte === 0xa4 || byte === 0xa5, least: 0.2 },
  { name: 'shift_jis', first: (byte) => byte === 0x82 || byte === 0x83, least: 0.2 },
  // Korean syllables end where half of the common Chinese characters are still to come.
  { name: 'euc-kr', first: (byte) => byte >= 0xb0 && byte <= 0xc8, least: 0.9 },
  { name: 'gb18030', first: (byte) => byte >= 0xa1 && byte <= 0xd7, least: 0.9 },
  { name: 'big5', first: (byte) => byte >= 0xa1 && byte <= 0xc6, least: 0.9 },
];

export function guessEncoding(bytes: Uint8Array): string {
  const head = bytes.subarray(0, looked);
  const pair = doubleByte.find(({ name, first, least }) => {
    if (decoded(name, head) === undefined) return false;
    const firsts = firstBytes(head);
    return firsts.length > 1 && firsts.filter(first).length / firsts.length >= least;
  });
  return pair?.name ?? bestOfSingle(head);
}

/**
 * Whether they are two bytes a character in this encoding. A character that the look cuts off at its end is no fault.
 */
function decoded(name: string, head: Uint8Array): string | undefined {
  try {
    return new TextDecoder(name, { fatal: true }).decode(head, { stream: true });
  } catch {
    return undefined;
  }
}

/** In text of two bytes a character, every byte beyond ASCII that follows no other one is a first one. */
function firstBytes(head: Uint8Array): number[] {
  const firsts: number[] = [];
  for (let at = 0; at < head.length; at += 1) {
    const byte = head[at] ?? 0;
    if (byte < 0x80) continue;
    firsts.push(byte);
    at += 1;
  }
  return firsts;
}

function bestOfSingle(head: Uint8Array): string {
  const high = head.filter((byte) => byte >= 0x80);
  let best = { name: 'windows-1252', score: 0 };
  for (const [name, common] of singleByte) {
    const signs = new Set(common);
    let score = 0;
    for (const sign of new TextDecoder(name).decode(high)) if (signs.has(sign)) score += 1;
    if (score > best.score) best = { name, score };
  }
  return best.name;
}
