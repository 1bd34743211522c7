import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPrivate, maskPrivate } from './privacy.js';

const letters = 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fX';
const long = (count: number): string => letters.repeat(Math.ceil(count / letters.length)).slice(0, count);

/** Put together here, so that no scanner takes this file for a leak. */
const KEYS: readonly (readonly [name: string, key: string])[] = [
  ['OpenAI', `sk-${long(48)}`],
  ['OpenAI project', `sk-proj-${long(40)}_x-y`],
  ['Anthropic', `sk-ant-api03-${long(60)}`],
  ['GitHub', `ghp_${long(36)}`],
  ['GitHub, fine', `github_pat_${long(22)}_${long(40)}`],
  ['GitLab', `glpat-${long(20)}`],
  ['AWS', `AKIA${'ABCDEFGH23456723'}`],
  ['Hugging Face', `hf_${long(34)}`],
  ['Google', `AIza${long(35)}`],
  ['Slack', `xoxb-123456789012-${long(24)}`],
  ['Stripe', `sk_live_${long(24)}`],
  ['npm', `npm_${long(36)}`],
  ['in a setting', `api_key = "${long(32)}"`],
];

describe('keys', () => {
  it.each(KEYS)('are found by their shape: %s', (_, key) => {
    for (const text of [key, `key: ${key}.`, `{"k":"${key}"}`, `a\n${key}\nb`]) {
      const found = findPrivate(text);
      expect(found.map(({ kind }) => kind)).toEqual(['key']);
      expect(text.slice(found[0]!.index, found[0]!.index + found[0]!.length)).toContain(key.replace(/"$/, ''));
      expect(found[0]!.excerpt).not.toContain(long(12));
    }
  });

  it.each([
    ['token', `eyJ${long(20)}.eyJ${long(30)}.${long(43)}`],
    ['token', `Authorization: Bearer ${long(40)}`],
    ['password', `postgres://admin:${long(12)}@db.internal/x`],
    ['privateKey', `-----BEGIN RSA PRIVATE KEY-----\n${long(64)}\n${long(64)}\n-----END RSA PRIVATE KEY-----`],
    ['privateKey', `-----BEGIN OPENSSH PRIVATE KEY-----\n${long(64)}\n`],
  ])('of other kinds are found: %s in %s', (kind, text) => {
    const found = findPrivate(text);
    expect(found.map((find) => find.kind)).toEqual([kind]);
    expect(maskPrivate(text)).not.toContain(long(12));
  });

  it('of unknown lengths and inside words are none', () => {
    for (const text of [
      'sk-learn and task-force, disk-usage',
      `sk-${'a-'.repeat(30)}`,
      'hf_hub_download(repo_id)',
      'ghp_short',
      'AKIA',
      `xAKIA${'ABCDEFGH23456723'}`,
      'the bearer of good news was late',
      'Bearer tokens are sent in a header',
      'token = "aaaaaaaaaaaaaaaaaaaaaaaa"',
      'https://example.org/a:b@c',
      '-----BEGIN PUBLIC KEY-----',
      'npm_config_registry',
    ])
      expect(findPrivate(text), text).toEqual([]);
  });
});

describe('e-mail addresses', () => {
  it('are found and masked', () => {
    const text = 'Write to Ann.Lee+x@mail.univ-1.ac.uk or <bob@firma.de>, not to carol@gmail.com.';
    expect(findPrivate(text).map(({ kind, excerpt }) => [kind, excerpt])).toEqual([
      ['email', 'A***@mail.univ-1.ac.uk'],
      ['email', 'b***@firma.de'],
      ['email', 'c***@gmail.com'],
    ]);
    expect(maskPrivate(text)).toBe('Write to A***@mail.univ-1.ac.uk or <b***@firma.de>, not to c***@gmail.com.');
  });

  it('are not seen in program text, mathematics and placeholders', () => {
    for (const text of [
      'y = a@b.T + W@x.to(device) + Q@K.transpose(-2, -1)',
      '@app.route("/x")\ndef f(): pass',
      '@dataclass\nclass A: pass',
      'C = A@B.mT @ c.co[0]',
      'user@example.com, someone@test.org, you@yourdomain.com',
      'git@github.com:a/b.git',
      '$x @ y$, 3@2, a@b, @, x@y.z',
      'f@@g.com @.com a@.com',
    ])
      expect(findPrivate(text), text).toEqual([]);
  });
});

describe('telephone numbers', () => {
  it('are found only on request, and sums are none', () => {
    const text = 'Call +49 170 1234567 or +1 (555) 010-9999.';
    expect(findPrivate(text)).toEqual([]);
    expect(findPrivate(text, { phones: true }).map(({ kind }) => kind)).toEqual(['phone', 'phone']);
    for (const sum of ['x +12 345 678 = 9', '1 +2 345', '(a) +3 100 200', '+5 * 3', 'y^2 +14 22 x'])
      expect(findPrivate(sum, { phones: true }), sum).toEqual([]);
  });
});

describe('any text', () => {
  it('is masked to one in which nothing is found, in time that does not explode', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('@', 'a', '.com', 'sk-', 'eyJ', '.', ':', '//', ' ', 'A'.repeat(40), long(40), '-----BEGIN PRIVATE KEY-----'),
          { maxLength: 40 },
        ),
        (parts) => {
          const text = parts.join('');
          const finds = findPrivate(text);
          finds.forEach((find, i) => {
            expect(find.index).toBeGreaterThanOrEqual(i === 0 ? 0 : finds[i - 1]!.index + finds[i - 1]!.length);
          });
          expect(findPrivate(maskPrivate(text))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
