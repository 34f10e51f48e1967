export const JAPANESE = '東京都港区の会議は明日です。'
export const GERMAN = 'Schöne Grüße aus Köln, größer als Maß und Zahl'
const RUSSIAN = 'Встреча будет в среду в три часа'
const POLISH = 'Zażółć gęślą jaźń w środę'
const GREEK = 'Η συνάντηση είναι την Τετάρτη'
const HEBREW = 'הפגישה ביום רביעי'
const ARABIC = 'الاجتماع يوم الأربعاء'
const TURKISH = 'Günaydın, ışığı söndür'
const KOREAN = '회의는 수요일 오후 세 시입니다'
const SIMPLIFIED = '会议改到星期三下午三点。'
const TRADITIONAL = '會議改到星期三下午三點。'
const THAI = 'ประชุมวันพุธบ่ายสามโมง'

/** A charset, and words that it has all letters of. */
export const WRITTEN: readonly (readonly [charset: string, words: string])[] = [
  ['iso-8859-1', GERMAN],
  ['iso-8859-2', POLISH],
  ['iso-8859-5', RUSSIAN],
  ['iso-8859-6', ARABIC.replaceAll('أ', 'ا')],
  ['iso-8859-7', GREEK],
  ['iso-8859-8', HEBREW],
  ['iso-8859-9', TURKISH],
  ['iso-8859-13', 'Susitikimas trečiadienį'],
  ['iso-8859-15', 'Œuvre complète à 5 €'],
  ['windows-874', THAI],
  ['windows-1250', POLISH],
  ['windows-1251', RUSSIAN],
  ['windows-1252', `${GERMAN} – 5 €`],
  ['windows-1253', GREEK],
  ['windows-1254', TURKISH],
  ['windows-1255', HEBREW],
  ['windows-1256', ARABIC],
  ['windows-1257', 'Susitikimas trečiadienį'],
  ['koi8-r', RUSSIAN],
  ['koi8-u', 'Зустріч у середу, їжак'],
  ['ibm866', RUSSIAN],
  ['macintosh', GERMAN],
  ['shift_jis', JAPANESE],
  ['euc-jp', JAPANESE],
  ['iso-2022-jp', JAPANESE],
  ['euc-kr', KOREAN],
  ['gb2312', SIMPLIFIED],
  ['gbk', SIMPLIFIED],
  ['gb18030', SIMPLIFIED],
  ['big5', TRADITIONAL],
  ['utf-8', `${JAPANESE} बैठक बुधवार को है 🎈`],
  ['utf-16le', `${GERMAN} ${JAPANESE}`],
  ['utf-16be', `${GERMAN} ${JAPANESE}`],
]
