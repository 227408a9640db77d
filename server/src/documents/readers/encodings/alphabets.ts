/**
 * Characters beyond ASCII that texts of a language consist of for the most part, by the encodings that such texts come
 * in. Of equally good ones the first is chosen.
 */
export type Alphabet = {
  encodings: readonly string[];
  /** Of other scripts than Latin, the most common letters first. */
  letters: string;
  script: 'latin' | 'cyrillic' | 'other';
};

const western = ['windows-1252'];
const central = ['windows-1250', 'iso-8859-2'];
const turkish = ['windows-1254', 'iso-8859-3'];
const cyrillic = ['windows-1251', 'koi8-u', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic', 'ibm855'];

export const alphabets: readonly Alphabet[] = [
  { encodings: western, letters: 'äöüß', script: 'latin' },
  { encodings: western, letters: 'éèêëàâçîïôùûœæ', script: 'latin' },
  { encodings: western, letters: 'áéíóúñü¿¡ª', script: 'latin' },
  { encodings: western, letters: 'áâãàçéêíóôõú', script: 'latin' },
  { encodings: western, letters: 'àèéìòù', script: 'latin' },
  { encodings: western, letters: 'åäöéæø', script: 'latin' },
  { encodings: western, letters: 'áéíóúýþðæö', script: 'latin' },
  { encodings: western, letters: 'äöüõšž', script: 'latin' },
  { encodings: western, letters: 'éëïóöüèàç', script: 'latin' },
  { encodings: central, letters: 'áéíóöőúüű', script: 'latin' },
  { encodings: central, letters: 'ąćęłńóśźż', script: 'latin' },
  { encodings: central, letters: 'áčďéěíňóřšťúůýž', script: 'latin' },
  { encodings: central, letters: 'áäčďéíĺľňóôŕšťúýž', script: 'latin' },
  { encodings: central, letters: 'ăâîşţșț', script: 'latin' },
  { encodings: central, letters: 'čćđšž', script: 'latin' },
  { encodings: turkish, letters: 'çğıöşüâîİ', script: 'latin' },
  { encodings: ['windows-1257', 'iso-8859-13'], letters: 'ąčęėįšųūž', script: 'latin' },
  { encodings: ['windows-1257', 'iso-8859-13'], letters: 'āčēģīķļņšūž', script: 'latin' },
  { encodings: ['iso-8859-3'], letters: 'ĉĝĥĵŝŭ', script: 'latin' },
  { encodings: ['windows-1258'], letters: 'àáâãèéêìíòóôõùúýăđĩũơư\u0300\u0301\u0303\u0309\u0323', script: 'latin' },
  // Capital letters of one Cyrillic encoding are small ones of another: only small ones count.
  { encodings: cyrillic, letters: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё', script: 'cyrillic' },
  { encodings: cyrillic, letters: 'оаинтерсвклудмпзяьбгчйхцєжїюфшщіґ', script: 'cyrillic' },
  { encodings: cyrillic, letters: 'аоинејрсвтудлпкмзгбјшчцжћђљхњџф', script: 'cyrillic' },
  { encodings: ['windows-1253', 'iso-8859-7'], letters: 'αοιετνσηρπκμλςυδάίόέήώύγθχφβωξζψϊϋΐΰ', script: 'other' },
  {
    encodings: ['windows-1255', 'iso-8859-8'],
    letters: 'יוהלאמרבתשנכדקעחפטגסזםןצךףץ\u05b0\u05b7\u05b8\u05b4\u05b6\u05b5\u05bc',
    script: 'other',
  },
  {
    encodings: ['windows-1256', 'iso-8859-6'],
    letters: 'ايلمنوترةبعدفسقكحهجشصطخأءضذزثىغظإؤئآ،؛؟گچپژیک\u064e\u064f\u0650\u0651\u0652\u064b',
    script: 'other',
  },
  { encodings: ['windows-874'], letters: 'านรอกเงมยลวดทตสตหปบพคจขแใไโะิีึืุูั่้์็ำฉชซฐณธฝฟภผศษๆ', script: 'other' },
  { encodings: ['macintosh'], letters: 'äöüßéèêëàâçîïôùûœæáíóúñãõåø', script: 'latin' },
];

/** Signs that texts of every language use. */
export const punctuation = '‘’“”„‚–—…«»‹›•€°§©®\u00a0\u00ad·№';

/** The most common characters of Chinese, Japanese and Korean texts; of Chinese both ways of writing. */
const chinese =
  '的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式息写呢识极令黄德收脸钱党倒未持取设始版双历越史商片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟校读志飞观争究包组造落视济喜离虽坏' +
  '這來國個說們爲為時過學後對麼沒於還發當開從兩長樣現將與進實點種聲話問機給幾業間電門東氣關並軍產萬體別處總場師書員華報馬張難車應親務記邊風戰覺題統請愛讓認論義術結連遠資隊帶條變聯權該領傳紅決達辦運強轉眾輕語滿寫識極黃臉錢黨設雙歷廣議際則單據導網專讀飛觀爭組視濟離雖壞麗臺灣您妳' +
  '訂單編號數量姓名地址電話價格商品稱日期備註客戶公司金額計庫存類部職订编号数称备注客户库存类职';
const japanese =
  '日本人年大一国会中出生行事見月分間後前手上部者内学立回社場長通合同目市東京都府県区町村名前田山川水木金土火今時気力方文体入小高野自動車電話番号住所氏会社員様御新旧国際税込円点数量商品価格注文売買支払送料確認申請受付業務管理情報報告計画予定書類表示設定変更追加削除保存検索画面開始終了実行処理結果対応場合必要不明以下以上未満全部一覧詳細問題原因方法説明使用利用可能性重要注意質問回答連絡先北海道大阪名古屋福岡神戸横浜千葉埼玉静岡広島仙台奈良';
const kana =
  'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだぢづでどばびぶべぼぱぴぷぺぽっゃゅょぁぃぅぇぉアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポッャュョァィゥェォヴー';
const korean =
  '이다는에의을를가은고하지로서한기사도과자리대어시인나정수해아들일전원있그부으주것제보만상스여라면동구성니국조장연소공경게개문요위신용방실관적화생과안선마거오우중학내년월분비무미유계진세교민업안합할된되며와까때또모두말물음식집날길속입출력번호처음끝북남서울산강천광양품명회의결과및없않습';
const marks = '，。、；：？！「」『』（）《》〈〉【】…—·ー～　％０１２３４５６７８９';

/** The scripts of encodings with two bytes a character; a text that has both is of the first that fits best. */
export const scripts: readonly { encodings: readonly string[]; common: string }[] = [
  { encodings: ['shift_jis', 'euc-jp'], common: kana + japanese + marks },
  { encodings: ['gb18030', 'big5'], common: chinese + marks },
  { encodings: ['euc-kr'], common: korean + marks },
];

/** Characters of all scripts but Latin, whose UTF-16 is recognized by its zeros. */
export const allCommon = new Set(
  [
    ...alphabets.filter(({ script }) => script !== 'latin').map(({ letters }) => letters),
    ...scripts.map(({ common }) => common),
  ].join(''),
);
