"""What the files of the corpus say: the texts that make.py gives to the programs. Written for this purpose."""

# Each: title, paragraphs, second heading, list, table, closing paragraph, a footnote to the first paragraph.
DOCUMENTS = {
    "en": {
        "title": "The mill on the river",
        "paragraphs": [
            "The old mill stands where the river bends twice before it reaches the harbour. Its wheel has not turned since the flood of 1974, yet the stones inside are whole, and the miller's ledger still lies open on the desk.",
            "In spring the council asked three builders what a repair would cost. Two of them answered within a week; the third wrote that nobody could say before the floor had been lifted. Their offers differ by more than 40 % – mostly because of the roof.",
        ],
        "heading": "What has to be decided",
        "list": ["Who pays for the scaffolding", "Whether the wheel may turn again", "What happens to the bats in the loft"],
        "table": [["Builder", "Offer", "Weeks"], ["Ashdown & Sons", "18,400 €", "14"], ["Riverside Joinery", "21,950 €", "9"], ["J. O'Neill", "26,300 €", "11"]],
        "closing": "A decision is expected before the first frost. Until then the door stays locked, and the key hangs in the bakery.",
        "note": "The ledger was begun in 1891 by Edith Marlow.",
    },
    "de": {
        "title": "Die Mühle am Fluß",
        "paragraphs": [
            "Die alte Mühle steht dort, wo der Fluss sich zweimal krümmt, bevor er den Hafen erreicht. Ihr Rad hat sich seit dem Hochwasser von 1974 nicht mehr gedreht, doch die Mahlsteine sind unversehrt, und das Geschäftsbuch des Müllers liegt noch aufgeschlagen auf dem Schreibtisch.",
            "Im Frühjahr fragte der Gemeinderat drei Baufirmen, was die Instandsetzung kosten würde. „Das weiß niemand, bevor der Fußboden geöffnet ist“, schrieb die dritte. Die Angebote weichen um über 40 % voneinander ab – vor allem wegen des Daches.",
        ],
        "heading": "Was zu entscheiden ist",
        "list": ["Wer das Gerüst bezahlt", "Ob sich das Rad wieder drehen darf", "Was aus den Fledermäusen im Dachgeschoß wird"],
        "table": [["Firma", "Angebot", "Wochen"], ["Schröder & Söhne", "18.400 €", "14"], ["Flußtischlerei Größ", "21.950 €", "9"], ["Jäger Bau", "26.300 €", "11"]],
        "closing": "Eine Entscheidung wird vor dem ersten Frost erwartet. Bis dahin bleibt die Tür verschlossen; der Schlüssel hängt in der Bäckerei.",
        "note": "Das Buch wurde 1891 von Käthe Möller begonnen.",
    },
    "pl": {
        "title": "Młyn nad rzeką",
        "paragraphs": [
            "Stary młyn stoi tam, gdzie rzeka dwa razy skręca, zanim dopłynie do przystani. Jego koło nie obraca się od powodzi w 1974 roku, ale kamienie są całe, a księga młynarza wciąż leży otwarta na biurku.",
            "Wiosną rada gminy zapytała trzy firmy, ile kosztowałaby naprawa. Dwie odpowiedziały w ciągu tygodnia, trzecia napisała, że nikt tego nie powie, dopóki nie zostanie podniesiona podłoga. Oferty różnią się o ponad 40 %, głównie z powodu dachu.",
        ],
        "heading": "Co trzeba rozstrzygnąć",
        "list": ["Kto zapłaci za rusztowanie", "Czy koło może się znów obracać", "Co będzie z nietoperzami na strychu"],
        "table": [["Firma", "Oferta", "Tygodnie"], ["Wiśniewski i Synowie", "78 400 zł", "14"], ["Stolarnia Żuraw", "91 950 zł", "9"], ["Łąccy Budowa", "96 300 zł", "11"]],
        "closing": "Decyzja powinna zapaść przed pierwszym mrozem. Do tego czasu drzwi pozostaną zamknięte, a klucz wisi w piekarni.",
        "note": "Księgę zaczęła w 1891 roku Jadwiga Źródlana.",
    },
    "el": {
        "title": "Ο μύλος στο ποτάμι",
        "paragraphs": [
            "Ο παλιός μύλος στέκεται εκεί όπου το ποτάμι στρίβει δύο φορές πριν φτάσει στο λιμάνι. Ο τροχός του δεν γύρισε από την πλημμύρα του 1974, όμως οι πέτρες είναι ακέραιες και το τεφτέρι του μυλωνά είναι ακόμη ανοιχτό πάνω στο γραφείο.",
            "Την άνοιξη το συμβούλιο ρώτησε τρεις μάστορες πόσο θα κόστιζε η επισκευή. Οι δύο απάντησαν μέσα σε μία εβδομάδα· ο τρίτος έγραψε ότι κανείς δεν ξέρει πριν σηκωθεί το πάτωμα.",
        ],
        "heading": "Τι πρέπει να αποφασιστεί",
        "list": ["Ποιος πληρώνει τη σκαλωσιά", "Αν ο τροχός θα γυρίσει ξανά", "Τι θα γίνουν οι νυχτερίδες στη σοφίτα"],
        "table": [["Μάστορας", "Προσφορά", "Εβδομάδες"], ["Παπαδόπουλος", "18.400 €", "14"], ["Ξυλουργείο Ποτάμι", "21.950 €", "9"]],
        "closing": "Η απόφαση αναμένεται πριν από τον πρώτο παγετό. Ως τότε η πόρτα μένει κλειδωμένη και το κλειδί κρέμεται στον φούρνο.",
        "note": "Το τεφτέρι το άρχισε το 1891 η Ελένη Μυλωνά.",
    },
    "ru": {
        "title": "Мельница у реки",
        "paragraphs": [
            "Старая мельница стоит там, где река дважды поворачивает, прежде чем дойти до гавани. Колесо не вращалось с наводнения 1974 года, но жернова целы, а книга мельника всё ещё лежит раскрытой на столе.",
            "Весной совет спросил трёх строителей, сколько будет стоить ремонт. Двое ответили в течение недели; третий написал, что никто этого не скажет, пока не поднимут пол. Предложения различаются более чем на 40 % – главным образом из-за крыши.",
        ],
        "heading": "Что нужно решить",
        "list": ["Кто оплатит строительные леса", "Можно ли снова пустить колесо", "Что будет с летучими мышами на чердаке"],
        "table": [["Строитель", "Цена", "Недели"], ["Кузнецов и сыновья", "1 840 000 ₽", "14"], ["Столярная у реки", "2 195 000 ₽", "9"]],
        "closing": "Решение ожидают до первых заморозков. До тех пор дверь закрыта, а ключ висит в булочной.",
        "note": "Книгу начала в 1891 году Елизавета Щукина.",
    },
    "ja": {
        "title": "川辺の水車小屋",
        "paragraphs": [
            "古い水車小屋は、川が港に着く前に二度曲がる場所に立っている。一九七四年の洪水以来、水車は回っていないが、中の石臼は無事で、粉屋の帳簿は今も机の上に開かれたままである。",
            "春になって、町の議会は三人の大工に修理の費用を尋ねた。二人は一週間以内に返事をしたが、三人目は「床を上げてみなければ誰にも分からない」と書いてきた。見積もりには四割以上の差があり、その理由は主に屋根である。",
        ],
        "heading": "決めなければならないこと",
        "list": ["足場の費用を誰が払うか", "水車を再び回してもよいか", "屋根裏のコウモリをどうするか"],
        "table": [["大工", "見積もり", "週"], ["山田建設", "184万円", "14"], ["川辺木工", "219万円", "9"]],
        "closing": "初霜の前に決定が下される見込みである。それまで扉は閉ざされ、鍵はパン屋に掛けてある。",
        "note": "帳簿は一八九一年に高橋ウメが書き始めた。",
    },
    "zh": {
        "title": "河边的磨坊",
        "paragraphs": [
            "老磨坊坐落在河流汇入港口之前拐了两个弯的地方。自从一九七四年的洪水以后,水轮再也没有转动过,但里面的磨石完好无损,磨坊主的账本至今还摊开放在书桌上。",
            "春天,镇议会向三家建筑商询问修缮的费用。其中两家在一周之内作了答复,第三家写道,在掀开地板之前谁也说不准。报价相差四成以上,主要是因为屋顶。",
        ],
        "heading": "需要决定的事情",
        "list": ["脚手架的费用由谁承担", "水轮能否重新转动", "阁楼里的蝙蝠怎么办"],
        "table": [["建筑商", "报价", "周数"], ["王氏父子", "18.4万元", "14"], ["河畔木工", "21.9万元", "9"]],
        "closing": "预计在第一场霜冻之前会作出决定。在那之前,大门一直锁着,钥匙挂在面包店里。",
        "note": "账本是李秀英于一八九一年开始记录的。",
    },
    "ko": {
        "title": "강가의 방앗간",
        "paragraphs": [
            "오래된 방앗간은 강이 항구에 닿기 전에 두 번 굽이치는 곳에 서 있다. 1974년 홍수 이후로 물레방아는 돌지 않았지만, 안의 맷돌은 온전하고 방앗간 주인의 장부는 아직도 책상 위에 펼쳐져 있다.",
            "봄에 의회는 세 명의 목수에게 수리비가 얼마나 드는지 물었다. 두 명은 일주일 안에 답했고, 세 번째 목수는 바닥을 들어 올리기 전에는 아무도 알 수 없다고 썼다.",
        ],
        "heading": "결정해야 할 일",
        "list": ["비계 비용은 누가 내는가", "물레방아를 다시 돌려도 되는가", "다락의 박쥐는 어떻게 되는가"],
        "table": [["목수", "견적", "주"], ["김씨 형제", "1840만원", "14"], ["강변 목공소", "2195만원", "9"]],
        "closing": "첫서리가 내리기 전에 결정이 날 것으로 보인다. 그때까지 문은 잠겨 있고 열쇠는 빵집에 걸려 있다.",
        "note": "장부는 1891년에 박순이가 쓰기 시작했다.",
    },
    "ar": {
        "title": "الطاحونة على النهر",
        "paragraphs": [
            "تقف الطاحونة القديمة حيث ينعطف النهر مرتين قبل أن يبلغ الميناء. لم تدر عجلتها منذ الفيضان الكبير، لكن أحجارها سليمة، ودفتر الطحان ما زال مفتوحا على المكتب.",
            "في الربيع سأل المجلس ثلاثة من البنائين عن كلفة الإصلاح. أجاب اثنان منهم خلال أسبوع، وكتب الثالث أن أحدا لا يعرف ذلك قبل رفع الأرضية.",
        ],
        "heading": "ما يجب أن يتقرر",
        "list": ["من يدفع ثمن السقالات", "هل يجوز أن تدور العجلة من جديد", "ماذا يحدث للخفافيش في العلية"],
        "table": [["البناء", "العرض", "الأسابيع"], ["حداد وأولاده", "18400", "14"], ["نجارة النهر", "21950", "9"]],
        "closing": "من المنتظر أن يصدر القرار قبل أول صقيع. وحتى ذلك الحين يبقى الباب مقفلا، والمفتاح معلق في المخبز.",
        "note": "بدأت الدفتر فاطمة الحداد.",
    },
    "he": {
        "title": "הטחנה על הנהר",
        "paragraphs": [
            "הטחנה הישנה עומדת במקום שבו הנהר מתעקל פעמיים לפני שהוא מגיע לנמל. הגלגל שלה לא הסתובב מאז השיטפון הגדול, אבל האבנים שלמות, ופנקס הטוחן עדיין מונח פתוח על השולחן.",
            "באביב שאלה המועצה שלושה בנאים כמה יעלה התיקון. שניים מהם ענו בתוך שבוע, והשלישי כתב שאיש אינו יודע לפני שמרימים את הרצפה.",
        ],
        "heading": "מה צריך להחליט",
        "list": ["מי משלם על הפיגומים", "האם הגלגל רשאי להסתובב שוב", "מה יקרה לעטלפים בעליית הגג"],
        "table": [["בנאי", "הצעה", "שבועות"], ["לוי ובניו", "18400", "14"], ["נגריית הנהר", "21950", "9"]],
        "closing": "ההחלטה צפויה לפני הכפור הראשון. עד אז הדלת נשארת נעולה, והמפתח תלוי במאפייה.",
        "note": "את הפנקס התחילה רבקה לוי.",
    },
}

# Only paragraphs: enough for letters and single-byte encodings.
PLAIN = {
    "fr": "Le vieux moulin se dresse là où la rivière fait deux détours avant d'atteindre le port. Sa roue n'a pas tourné depuis la crue de 1974, mais les meules sont intactes, et le registre du meunier est resté ouvert sur le bureau.\nAu printemps, le conseil a demandé à trois artisans ce que coûterait la réparation. « Personne ne le sait », répondit le troisième, « avant qu'on ait soulevé le plancher ». Voilà où en sont les choses; la clé reste accrochée à la boulangerie, près du fournil où naît l'odeur du pain frais.",
    "tr": "Eski değirmen, ırmağın limana varmadan önce iki kez kıvrıldığı yerde durur. Çarkı 1974 selinden beri dönmedi, ama taşları sağlamdır ve değirmencinin defteri hâlâ masanın üzerinde açık duruyor.\nİlkbaharda meclis üç ustaya onarımın ne kadara mal olacağını sordu. İkisi bir hafta içinde yanıtladı; üçüncüsü, döşeme kaldırılmadan kimsenin bunu söyleyemeyeceğini yazdı.",
    "th": "โรงสีเก่าตั้งอยู่ตรงที่แม่น้ำโค้งสองครั้งก่อนถึงท่าเรือ กังหันไม่ได้หมุนมาตั้งแต่น้ำท่วมใหญ่ แต่หินโม่ยังอยู่ครบ และสมุดบัญชีของเจ้าของโรงสียังเปิดค้างอยู่บนโต๊ะ\nในฤดูใบไม้ผลิ สภาถามช่างสามคนว่าการซ่อมแซมจะใช้เงินเท่าไร สองคนตอบภายในหนึ่งสัปดาห์ คนที่สามเขียนว่าไม่มีใครรู้ก่อนที่จะยกพื้นขึ้น",
    "hi": "पुरानी चक्की वहाँ खड़ी है जहाँ नदी बंदरगाह पहुँचने से पहले दो बार मुड़ती है। बाढ़ के बाद से उसका पहिया नहीं घूमा, पर पत्थर साबुत हैं और बहीखाता अब भी मेज़ पर खुला पड़ा है।\nवसंत में परिषद ने तीन मिस्त्रियों से पूछा कि मरम्मत में कितना खर्च आएगा। दो ने एक सप्ताह में उत्तर दिया।",
    "vi": "Cối xay cũ đứng ở nơi dòng sông uốn khúc hai lần trước khi chảy tới bến cảng. Bánh xe của nó không quay từ trận lụt năm 1974, nhưng những thớt đá vẫn còn nguyên vẹn, và cuốn sổ của người chủ vẫn mở trên bàn.\nMùa xuân, hội đồng hỏi ba người thợ xem việc sửa chữa sẽ tốn bao nhiêu. Hai người trả lời trong vòng một tuần.",
}

# Sheets: name, rows. Dates are ISO texts that become dates; formulas are not used, values are.
SHEETS = {
    "budget": [
        ("Budget 2026", [["Item", "Planned", "Spent", "Share", "Paid on"], ["Scaffolding", 4200, 3980.5, 0.25, "2026-03-14"], ["Roof & gutter", 11750, 12010.75, 0.5, "2026-04-02"], ["Wheel", 2450, 0, 0.05, "2026-11-30"], ["Größe, Übermaß", 1, 2.5, 0.125, "2024-02-29"]]),
        ("Visitors", [["Month", "Adults", "Children"], ["January", 12, 3], ["February", 18, 7], ["March", 140, 61]]),
        ("Ключи", [["Дверь", "У кого"], ["Мельница", "Булочная"], ["水車", "山田"]]),
    ],
    "wide": [("Measures", [[f"Station {n}" for n in range(1, 31)]] + [[(row * 37 + column * 11) % 997 for column in range(30)] for row in range(24)])],
    "sparse": [("Sparse", [["Top left"]] + [[] for _ in range(8)] + [["", "", "", "Tenth row, fourth column"]] + [[] for _ in range(30)] + [["", "Forty-first row"]])],
}

# Slides: title, points, notes.
SLIDES = {
    "mill": [
        ("The mill on the river", ["Built in 1842", "Closed by the flood of 1974", "Owned by the town since 1988"], "Wait until everybody sits."),
        ("Three offers", ["Ashdown: 18,400 €", "Riverside: 21,950 €", "O'Neill: 26,300 €"], "Say that the roof makes the difference."),
        ("Größe und Übermaß", ["Höhe: 14 m", "Fläche: 310 m²", "Schräge Wände"], ""),
        ("Решение", ["До первых заморозков", "Ключ висит в булочной"], "Спросить о ключе."),
    ],
    "asia": [
        ("川辺の水車小屋", ["足場の費用", "屋根裏のコウモリ"], "ゆっくり話す。"),
        ("河边的磨坊", ["脚手架的费用", "钥匙挂在面包店里"], ""),
        ("강가의 방앗간", ["비계 비용", "첫서리 전에 결정"], "천천히 말할 것."),
    ],
}
