/** Names of units, in tables: which words and letters are units, which multiply, and which are no units at all. Reading is `units.ts`. */
import { type Rational, rational, whole } from './rational.js';

export const ALIASES: ReadonlyMap<string, string> = new Map(
  (
    'meter=m metre=m centimeter=cm centimetre=cm millimeter=mm millimetre=mm kilometer=km kilometre=km inch=in inches=in foot=ft feet=ft ' +
    'yard=yd yds=yd mile=mi gram=g kilogram=kg milligram=mg pound=lb lbs=lb ounce=oz liter=l litre=l milliliter=ml millilitre=ml second=s sec=s secs=s ' +
    'minute=min mins=min hour=h hr=h hrs=h degree=° deg=° celsius=C fahrenheit=F kelvin=K radian=rad usd=dollar eur=euro gbp=pound inr=rupee buck=dollar mph=mi/h kph=km/h L=l mL=ml newton=N joule=J watt=W volt=V'
  )
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
);

export const FACTORS: ReadonlyMap<string, Rational> = new Map([
  ['percent', rational(1n, 100n)],
  ['dozen', whole(12)],
  ['hundred', whole(100)],
  ['thousand', whole(1000)],
  ['million', whole(1_000_000)],
  ['billion', whole(1_000_000_000)],
  ['trillion', whole(1_000_000_000_000)],
]);

/** One letter is a variable, or nothing at all, unless it stands here; of two letters likewise. */
export const UNIT_LETTERS: ReadonlySet<string> = new Set([...'mgshdlLNJWVACFKΩÅ°%']);
export const UNIT_PAIRS: ReadonlySet<string> = new Set(
  (
    'mm cm dm km nm um μm µm mg kg Mg μg µg ug ml mL cl dl dL kl cc cu ft in yd mi lb oz hr ms ns us μs µs Hz kN MN kJ MJ GJ mJ kW MW GW TW mW Wh Ah kV mV ' +
    'mA kA eV Pa kΩ AU ly pc cd lm lx Wb Bq Gy Sv kB MB GB TB PB Mb Gb kb hp qt pt ha px dB rd sq ox Km Cm KM CM KG Kg'
  ).split(' '),
);

/** Words that make a text say more than a number with its unit. */
export const NO_UNITS: ReadonlySet<string> = new Set(
  (
    'and or no not on yes is it if of to at by for all but mod than more less least most about approximately roughly nearly almost around over under when where with ' +
    'without either neither nor one two three four five six seven eight nine ten max min maximum minimum greater smaller fewer above below up plus minus odd even between from ' +
    'half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth tenths hundredth hundredths ' +
    'thousandth thousandths millionth millionths pair pairs score gross double triple twice negative milli micro nano giga tera once twice thrice quadrillion quadrillions quintillion quintillions mil mill mio mrd ish through until base root factorial squared cubed am pm AM PM BC AD st nd rd th and/or solution none never only both any ' +
    'pct percentage mille ppm ppb bps basis lakh lakhs crore crores bn mn grand tens scores kilo mega fold doubled halved tripled negated reciprocal inverse ' +
    'binary octal hexadecimal zero eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ' +
    'ninety wrong incorrect false maybe perhaps impossible'
  ).split(' '),
);

/** Letters that multiply: in no unit do they stand before a word, and K stands for kelvins only alone or among symbols. */
export const MULTIPLIERS: ReadonlySet<string> = new Set(['k', 'K', 'M', 'B', 'T', 'G']);
export const CURRENCIES: ReadonlySet<string> = new Set(['dollar', 'euro', 'pound', 'yen', 'cent', 'rupee', 'franc', 'peso', 'yuan']);
