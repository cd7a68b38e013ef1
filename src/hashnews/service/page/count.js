// How long a post is, as each network counts it. Each function takes a text and gives a number.

const URL_LENGTH = 23; // Mastodon and X: however long an address is

// ----- what several networks count alike -----

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

// What a reader takes for one character: a family of four with its joiners is one. Plain letters
// with nothing on them need no segmenter, which is slow.
const PLAIN = /[\n\x20-\x7e](?![^\x00-\x7f])/g;

export function graphemes(text) {
  const rest = text.replace(PLAIN, "");
  return text.length - rest.length + [...segmenter.segment(rest)].length;
}

export const codePoints = (text) => [...text].length;

// ----- Mastodon: graphemes; an address is 23, of @ann@example.social only @ann counts -----

const MASTODON_URL = /(?<![\p{L}\p{N}@#/])https?:\/\/[^\s<>"“”]*[^\s<>"“”.,:;!?'’)\]]/giu;
const MENTION = /(?<![\p{L}\p{N}/@])(@[\w.-]*\w)@[\p{L}\p{N}][\p{L}\p{N}.-]*[\p{L}\p{N}]/gu;

export function mastodonLength(text) {
  const short = text.replace(MASTODON_URL, "x".repeat(URL_LENGTH)).replace(MENTION, "$1");
  return graphemes(short);
}

// ----- X: twitter-text, configuration v3 -----
// Code points of these ranges weigh 1, all others 2, an emoji 2 however it is made, an address 23.

const LIGHT = [[0, 4351], [8192, 8205], [8208, 8223], [8242, 8247]];
const EMOJI = /\p{RGI_Emoji}|\p{Emoji_Presentation}/gv;
const COUNTRIES =
  "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw";
// An address without http:// counts where it ends like one; of the 1,200 newer endings the common.
const OTHERS =
  "com net org info biz edu gov mil int name pro mobi aero coop museum jobs travel app art blog cafe chat club cloud codes design dev digital earth eco email events fm fun games global group guide health host life link live ltd media news ngo one online page photo photos press radio rocks run school science shop show site social space store studio tech tips today tools top tube university video website wiki work works world wtf xyz zone";
const LABEL = "[a-z0-9\\u00c0-\\u024f](?:[a-z0-9\\u00c0-\\u024f_-]*[a-z0-9\\u00c0-\\u024f])?";
const ENDING = `(?:${[...OTHERS.split(" "), ...COUNTRIES.split(" ")].join("|")})(?![a-z0-9\\u00c0-\\u024f@-])`;
const SIGNS = "a-z0-9\\u00c0-\\u024f\\u0400-\\u04ff"; // in the rest of an address
const WITHIN = `[${SIGNS}!*';:=+,.$/%#[\\]\\u2013_~@|&-]`;
const PATH = `(?:/(?:${WITHIN}*\\(${WITHIN}+\\))*(?:${WITHIN}*[${SIGNS}=_#/+-])?)?`;
const QUERY = `(?:\\?[a-z0-9!?*'@();:&=+$/%#[\\]_.,~|-]*[a-z0-9_&=#/-])?`;
const PORT = "(?::\\d+)?";
const X_URL = new RegExp(
  `(?<![a-z0-9@＠$#＃])(?:https?://|(?<![-_./]))(?:${LABEL}\\.)+${ENDING}${PORT}${PATH}${QUERY}`, "giu");

const isLight = (point) => LIGHT.some(([first, last]) => first <= point && point <= last);
const weigh = (text) => [...text].reduce((sum, sign) => sum + (isLight(sign.codePointAt(0)) ? 1 : 2), 0);

export function xLength(text) {
  const normal = text.normalize("NFC");
  const addresses = normal.match(X_URL)?.length ?? 0;
  const rest = normal.replace(X_URL, "");
  const emoji = rest.match(EMOJI)?.length ?? 0;
  return URL_LENGTH * addresses + 2 * emoji + weigh(rest.replace(EMOJI, ""));
}

// ----- Threads: characters, of an emoji the bytes of its UTF-8 -----

const bytes = (text) => new TextEncoder().encode(text).length;

export function threadsLength(text) {
  const emoji = text.match(EMOJI) ?? [];
  return codePoints(text.replace(EMOJI, "")) + emoji.reduce((sum, one) => sum + bytes(one), 0);
}
