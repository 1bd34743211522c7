/** Licences of the public sets that people train on, as their makers state them. Knows names, reads nothing. */

interface Known {
  /** In lower case, found in a source's name. */
  readonly name: RegExp;
  readonly licence: string;
}

const KNOWN: readonly Known[] = [
  { name: /^calc(?:-small)?(?: |$)/, licence: 'generated' },
  { name: /dapo-?math-?17k/, licence: 'Apache-2.0' },
  { name: /gsm-?8k/, licence: 'MIT' },
  { name: /skywork-or1/, licence: 'Apache-2.0' },
  { name: /megascience/, licence: 'CC-BY-NC-SA-4.0' },
  { name: /numinamath/, licence: 'Apache-2.0' },
];

/** Of a source by its name: a file, an address on the hub, or a generator. Undefined where it is none of the known sets. */
export function licenceOf(source: string): string | undefined {
  const name = source.toLowerCase().replaceAll('_', '-');
  return KNOWN.find((known) => known.name.test(name))?.licence;
}
