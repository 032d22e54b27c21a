"""Currencies: codes of ISO 4217, signs, names and everyday names, in Chinese and in English; which of them may mean one another. Pure.

A code that is also a word in capitals (ALL, TOP, COP) is left out: where it is meant as a currency it is read as a name.
"""

import re
import sys
import unicodedata

_ENDS = (
    r"(?![\u4e00-\u9fff])|(?=[左上以起每一的整人和至到])"  # what may follow where the sign is not part of another word
)
_LISTED: dict[str, tuple[str, ...]] = {
    "$": ("$", "dollars", "dollar", "bucks"),
    "USD": ("US$", "USD", "US dollars", "US dollar", "U.S. dollars", "American dollars", "美元", "美金", "刀"),
    "HKD": ("HK$", "HKD", "Hong Kong dollars", "港元", "港币", "港幣", "元港币", "元港幣"),
    "TWD": ("NT$", "TWD", "NTD", "新台币", "新台幣", "新臺幣", "台币", "台幣", "元新台币", "元新台幣", "元新臺幣"),
    "MOP": ("MOP$", "MOP", "澳门元", "澳門元"),
    "SGD": ("S$", "SGD", "Singapore dollars", "新加坡元", "新元"),
    "AUD": ("A$", "AU$", "AUD", "Australian dollars", "澳元", "澳币"),
    "NZD": ("NZ$", "NZD", "New Zealand dollars", "新西兰元", "纽元"),
    "BRL": ("R$", "BRL", "Brazilian reais", "reais", "雷亚尔"),
    "CAD": ("C$", "CA$", "CAD", "Canadian dollars", "加元", "加币"),
    "元": ("元", "圆", "圓", "块钱", "块", "塊"),
    "CNY": ("yuan", "renminbi", "RMB", "CNY", "人民币", "人民幣", "元人民币", "元人民幣"),
    "¥": ("¥",),
    "JPY": ("yen", "Japanese yen", "JPY", "JP¥", "日元", "日圆", "日圓", "日币", "円"),
    "EUR": ("€", "euros", "euro", "EUR", "欧元", "歐元"),
    "欧": ("欧",),  # or an ohm
    "GBP": ("£", "pounds sterling", "British pounds", "quid", "GBP", "英镑", "英鎊", "镑"),
    "KRW": ("₩", "KRW", "won", "韩元", "韓元", "韩币", "韩圆"),
    "rupee": ("rupees", "rupee", "卢比", "盧比"),
    "INR": ("₹", "INR", "Indian rupees", "印度卢比"),
    "PKR": ("PKR", "Pakistani rupees", "巴基斯坦卢比"),
    "LKR": ("LKR", "斯里兰卡卢比"),
    "NPR": ("Nepalese rupees", "尼泊尔卢比"),
    "RUB": ("₽", "RUB", "rubles", "ruble", "roubles", "rouble", "卢布", "盧布"),
    "franc": ("francs", "franc", "法郎"),
    "CHF": ("CHF", "Swiss francs", "瑞士法郎", "瑞郎"),
    "XAF": ("XAF", "XOF", "CFA francs", "西非法郎", "中非法郎"),
    "THB": ("฿", "THB", "baht", "泰铢", "泰銖"),
    "peso": ("pesos", "peso", "比索"),
    "MXN": ("MXN", "Mexican pesos", "墨西哥比索"),
    "ARS": ("ARS", "Argentine pesos", "阿根廷比索"),
    "CLP": ("CLP", "Chilean pesos", "智利比索"),
    "PHP": ("₱", "Philippine pesos", "菲律宾比索"),
    "UYU": ("UYU", "Uruguayan pesos", "乌拉圭比索"),
    "crown": ("kronor", "kroner", "kronur", "krona", "krone", "koruna", "korun", "crowns", "克朗"),
    "SEK": ("SEK", "Swedish kronor", "Swedish krona", "Swedish crowns", "瑞典克朗"),
    "NOK": ("NOK", "Norwegian kroner", "Norwegian krone", "Norwegian crowns", "挪威克朗"),
    "DKK": ("DKK", "Danish kroner", "Danish krone", "Danish crowns", "丹麦克朗"),
    "ISK": ("ISK", "冰岛克朗"),
    "CZK": ("CZK", "Kč", "Czech crowns", "Czech koruna", "捷克克朗"),
    "PLN": ("PLN", "zł", "zlotys", "zloty", "złotych", "złoty", "兹罗提", "波兰兹罗提"),
    "HUF": ("HUF", "forints", "forint", "福林"),
    "RON": ("lei", "leu", "列伊"),
    "BGN": ("BGN", "leva", "lev", "列弗"),
    "UAH": ("₴", "UAH", "hryvnias", "hryvnia", "格里夫纳"),
    "KZT": ("₸", "KZT", "tenge", "坚戈"),
    "TRY": ("₺", "liras", "lira", "里拉"),
    "ILS": ("₪", "ILS", "NIS", "shekels", "shekel", "谢克尔"),
    "dinar": ("dinars", "dinar", "第纳尔"),
    "KWD": ("KWD", "Kuwaiti dinars", "科威特第纳尔"),
    "RSD": ("RSD", "Serbian dinars", "塞尔维亚第纳尔"),
    "dirham": ("dirhams", "dirham", "迪拉姆"),
    "AED": ("AED", "阿联酋迪拉姆"),
    "riyal": ("riyals", "riyal", "rials", "rial", "里亚尔"),
    "SAR": ("Saudi riyals", "沙特里亚尔"),
    "QAR": ("QAR", "Qatari riyals", "卡塔尔里亚尔"),
    "IRR": ("IRR", "Iranian rials", "伊朗里亚尔"),
    "shilling": ("shillings", "shilling", "先令"),
    "KES": ("KES", "Kenyan shillings", "肯尼亚先令"),
    "EGP": ("EGP", "Egyptian pounds", "埃及镑", "埃镑"),
    "ZAR": ("ZAR", "rands", "rand", "兰特"),
    "NGN": ("₦", "NGN", "naira", "奈拉"),
    "GHS": ("₵", "GHS", "cedis", "cedi", "塞地"),
    "ETB": ("ETB", "birr"),
    "IDR": ("IDR", "rupiahs", "rupiah", "印尼盾", "印尼卢比"),
    "VND": ("₫", "VND", "dong", "越南盾"),
    "MYR": ("MYR", "ringgits", "ringgit", "林吉特", "令吉", "马币"),
    "BDT": ("৳", "BDT", "taka", "塔卡"),
    "KHR": ("៛", "KHR", "riels", "riel"),
    "MMK": ("MMK", "kyats", "kyat", "缅元", "缅币"),
    "MNT": ("₮", "MNT", "tugriks", "tugrik", "图格里克"),
    "PEN": ("soles", "索尔"),
    "BTC": ("₿", "BTC", "bitcoins", "bitcoin", "比特币"),
    "ETH": ("ETH", "以太币"),
    "USDT": ("USDT", "泰达币"),
}  # fmt: skip
# everyday signs that are mostly part of another word
NOT_BEHIND = {
    "刀": f"(?:{_ENDS})",
    "块": f"(?:{_ENDS})",
    "塊": f"(?:{_ENDS})",
    "欧": f"(?:{_ENDS})",
    "圆": "(?![形心柱桌])",
    "圓": "(?![形心柱桌])",
    "won": r"(?!\s(?:by|the|a|an|in|with|over|at|his|her|their|its|out|and|against|from|on)\b)",
}
_SIGNS = {
    sign: (sign,)
    for sign in map(chr, range(0x80, sys.maxunicode + 1))
    if unicodedata.category(sign) == "Sc" and unicodedata.normalize("NFKC", sign) == sign
}  # another sign of a currency is a currency of its own
_ALL = frozenset(word for words in _LISTED.values() for word in words)
MONEY: dict[str, tuple[str, ...]] = _LISTED | {sign: words for sign, words in _SIGNS.items() if sign not in _ALL}
MONEY_WORDS = frozenset(word for words in MONEY.values() for word in words)
CODES = tuple(word for word in sorted(MONEY_WORDS) if re.fullmatch(r"[A-Z]{3}", word))
# what a currency is told by elsewhere too, and never right before its figure: 300元100件
NOT_BEFORE = frozenset(
    {"元", "圆", "圓", "块钱", "块", "塊", "刀", "欧", "镑", "円"}
    | {word for word in MONEY_WORDS if word.isascii() and word.isalpha() and word.islower() and word != "renminbi"}
)
_DOLLARS = frozenset({"HKD", "TWD", "MOP", "SGD", "AUD", "NZD", "CAD", "peso", "MXN", "ARS", "CLP", "UYU"})
MAY_BE_SHORT_FOR: dict[str, frozenset[str]] = {
    "$": _DOLLARS | {"元"},
    "元": frozenset({"HKD", "TWD", "MOP", "SGD", "AUD", "CAD", "$"}),
    "¥": frozenset({"CNY", "元", "JPY"}),
    "欧": frozenset({"EUR", "Ω"}),
    "K": frozenset({"KB"}),
    "peso": frozenset({"MXN", "ARS", "CLP", "PHP", "UYU"}),
    "crown": frozenset({"SEK", "NOK", "DKK", "ISK", "CZK"}),
    "franc": frozenset({"XAF"}),
    "rupee": frozenset({"PKR", "LKR", "NPR", "IDR"}),
    "dinar": frozenset({"KWD", "RSD"}),
    "dirham": frozenset({"AED"}),
    "riyal": frozenset({"SAR", "QAR", "IRR", "BRL", "KHR"}),
    "shilling": frozenset({"KES"}),
}
USUAL = {"$": "USD", "元": "CNY", "¥": "CNY", "rupee": "INR", "franc": "CHF"}
SAME_MONEY = frozenset(frozenset(pair) for pair in (("$", "USD"), ("元", "CNY"), ("rupee", "INR"), ("franc", "CHF")))
