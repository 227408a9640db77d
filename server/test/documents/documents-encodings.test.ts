import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeAs } from '../../src/documents/readers/encodings/decoders.ts';
import { decodeAnyText } from '../../src/documents/readers/encodings/text-encoding.ts';

/** Article 1 of the Universal Declaration of Human Rights in the encodings that such texts come in, and short tables. */

type Sample = [encodings: string[], article: string, table: string];

const cyrillic = ['windows-1251', 'koi8-u', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic', 'ibm855'];
const samples: Sample[] = [
  [
    ['windows-1252'],
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.',
    'Name;Straße\nMüller;Königsstraße 5\n',
  ],
  [
    ['windows-1252', 'macintosh'],
    'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
    'Prénom;Numéro\nHélène;27\n',
  ],
  [
    ['windows-1252'],
    'Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.',
    'Año;Dirección\n2024;Plaza España\n',
  ],
  [
    ['windows-1250', 'iso-8859-2'],
    'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.',
    'Imię;Miasto\nŁukasz;Łódź\n',
  ],
  [
    ['windows-1250', 'iso-8859-2'],
    'Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.',
    'Név;Város\nErzsébet;Győr, Gyűrű út\n',
  ],
  [
    ['windows-1250', 'iso-8859-2'],
    'Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.',
    'Jméno;Město\nJiří;Plzeň\n',
  ],
  [
    ['windows-1254'],
    'Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.',
    'Adı;Şehir\nAyşe;Eskişehir ağaç\n',
  ],
  [
    cyrillic,
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
    'Фамилия;Город\nИванов;Москва\n',
  ],
  [
    ['windows-1251', 'koi8-u', 'x-mac-cyrillic'],
    'Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.',
    'Прізвище;Місто\nШевченко;Київ\n',
  ],
  [
    ['windows-1253', 'iso-8859-7'],
    'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση.',
    'Όνομα;Πόλη\nΓιώργος;Αθήνα\n',
  ],
  [
    ['windows-1255', 'iso-8859-8'],
    'כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.',
    'שם;כתובת;טלפון\nמשה כהן;רחוב הרצל 5 תל אביב;03\n',
  ],
  [
    ['windows-1256', 'iso-8859-6'],
    'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.',
    'الاسم;العنوان\nمحمد علي;القاهرة\n',
  ],
  [['windows-874'], 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม', 'ชื่อ;ที่อยู่\nสมชาย;กรุงเทพ\n'],
  [
    ['shift_jis', 'euc-jp'],
    'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。',
    '名前,住所\n山田太郎,東京都千代田区\n',
  ],
  [
    ['gb18030'],
    '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
    '姓名,地址\n王小明,北京市朝阳区\n',
  ],
  [
    ['big5'],
    '人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。',
    '姓名,地址\n王小明,台北市中正區\n',
  ],
  [
    ['euc-kr', 'iso-2022-kr'],
    '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
    '이름,주소\n홍길동,서울시\n',
  ],
  [
    ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'],
    'すべての人間は自由であり、平等である。',
    '名前,住所\n山田太郎,東京都\n',
  ],
  [['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'], 'All human beings are born free and equal.', 'Name;Straße\n'],
];

for (const [encodings, article, table] of samples) {
  for (const encoding of encodings) {
    test(`reads “${article.slice(0, 20)}…” and a short table in ${encoding}`, () => {
      for (const text of [article, table]) assert.equal(decodeAnyText(encode(text, encoding)), text);
    });
  }
}

test('reads UTF-32 with a mark', () => {
  for (const encoding of ['utf-32le', 'utf-32be']) {
    assert.equal(decodeAnyText(encode('\ufeffStraße 𝒳', encoding)), 'Straße 𝒳');
  }
});

/** The bytes of a text, by a table that the decoder itself yields. */
function encode(text: string, encoding: string): Uint8Array {
  if (encoding.startsWith('utf-16')) {
    const bytes = Buffer.from(text, 'utf16le');
    return encoding === 'utf-16be' ? bytes.swap16() : bytes;
  }
  if (encoding.startsWith('utf-32')) {
    const codes = Uint32Array.from([...text], (sign) => sign.codePointAt(0) ?? 0);
    const bytes = Buffer.from(codes.buffer);
    return encoding === 'utf-32be' ? bytes.swap32() : bytes;
  }
  if (encoding === 'iso-2022-kr') {
    const shifted = [...text].map((sign) =>
      sign < '\u0080'
        ? sign
        : `\u000e${Buffer.from(encode(sign, 'euc-kr').map((byte) => byte & 0x7f)).toString('latin1')}\u000f`,
    );
    return Buffer.from(`\u001b$)C${shifted.join('')}`, 'latin1');
  }
  const table = tableOf(encoding);
  return Uint8Array.from(
    [...text].flatMap((sign) => {
      const bytes = table.get(sign);
      assert.ok(bytes, `${encoding} has no ${sign}`);
      return bytes;
    }),
  );
}

const tables = new Map<string, Map<string, number[]>>();

function tableOf(encoding: string): Map<string, number[]> {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map<string, number[]>();
  const add = (bytes: number[]) => {
    const sign = decodeAs(encoding, Uint8Array.from(bytes));
    if ([...sign].length === 1 && sign !== '\ufffd' && !table.has(sign)) table.set(sign, bytes);
  };
  for (let byte = 0; byte < 256; byte += 1) add([byte]);
  const isDouble = ['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'].includes(encoding);
  for (let first = 0x81; isDouble && first < 0xff; first += 1) {
    for (let second = 0x40; second < 0xff; second += 1) add([first, second]);
  }
  tables.set(encoding, table);
  return table;
}
