/** Short words that are no products of letters; longer ones are words by their length. What stands here behind a number is a unit or text. */
export const SHORT_WORDS: ReadonlySet<string> = new Set(
  (
    'and or no not on yes is it if of to the a an in at by for all one two six ten who how was saw dog god war raw own won now net tea eat ' +
    'cm mm km kg mg ml kph mph ft hr hrs min mins sec secs lb lbs oz yd yds mi in rad deg cup cups egg eggs day days men man car cars pen pens ' +
    'box mol am pm kJ Hz kHz eV keV MeV GeV USD EUR GBP INR cc sq per mod odd even'
  ).split(' '),
);

const MORE =
  'red sun mon tue wed thu fri sat jan feb mar apr may jun jul aug sep oct nov dec boy cat cow hen pig tie win ok up off old big low few any'.split(
    ' ',
  );

/** Words of three letters that may also be products: they are words where they stand alone. */
export const isShortWord = (run: string): boolean => MORE.includes(run.toLowerCase());

/** Words in which case says nothing, as opposed to variables beside each other: by their length, a capital before small letters, or known. */
export const isCaseless = (run: string): boolean =>
  run.length > 3 ||
  (run.length > 1 && (SHORT_WORDS.has(run.toLowerCase()) || MORE.includes(run.toLowerCase()))) ||
  /^\p{Lu}\p{Ll}{2}$/u.test(run) ||
  /[^A-Za-z]{2}/.test(run);
