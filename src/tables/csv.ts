/**
 * Rows of CSV and TSV with a header line. Every value is a text; quoted fields may hold line breaks. One apostrophe is taken off a text that
 * would be a formula without it: that is how spreadsheets, and our own files, keep such a text from being run.
 */
import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { UserError } from '../userError.js';
import { inBatches, type RowsOptions, refuseRow, requireColumns, type Table, type TableLimits, type TableRow } from './table.js';
import { textChunks } from './text.js';

/** @throws UserError when it has no header line, or two columns of one name */
export async function openCsv(file: string, name: string, delimiter: ',' | '\t', limits: TableLimits): Promise<Table> {
  const records = (): AsyncGenerator<string[], void, void> => csvRecords(file, name, delimiter, limits);
  let header: string[] | undefined;
  for await (const record of records()) {
    header = record.map((column) => unguarded(column.trim()));
    break;
  }
  if (header === undefined) throw new UserError(`${name} is empty`, 'Its first line must name the columns.');
  const columns = header;
  const twice = columns.find((column, i) => columns.indexOf(column) !== i);
  if (twice !== undefined) throw new UserError(`${name} has two columns named ${JSON.stringify(twice)}`, 'Each column needs its own name.');

  async function* rows(options: RowsOptions): AsyncGenerator<TableRow, void, void> {
    let number = 0;
    for await (const record of records()) {
      if (columns.length > 1 && record.length === 1 && record[0]!.trim() === '') continue;
      if (number > 0) {
        const where = `${name}: row ${number}`;
        if (record.length === columns.length) {
          yield { number, where, values: Object.fromEntries(columns.map((column, i) => [column, unguarded(record[i]!)])) };
        } else {
          const error = `${record.length} fields where the header names ${columns.length} columns`;
          refuseRow({ where, error }, options, 'A field with commas, quotes or line breaks must stand in double quotes.');
        }
      }
      number++;
    }
  }
  return {
    name,
    format: 'csv',
    columns,
    async *batches(options: RowsOptions = {}) {
      requireColumns({ name, columns }, options.columns ?? []);
      yield* inBatches(rows(options), options);
    },
  };
}

const GUARDED = /^'+[=+\-@\t\r]/;
const unguarded = (text: string): string => (GUARDED.test(text) ? text.slice(1) : text);

async function* csvRecords(file: string, name: string, delimiter: string, limits: TableLimits): AsyncGenerator<string[], void, void> {
  const source = Readable.from(textChunks(file, name, limits));
  const parser = parse({ bom: true, delimiter, relax_column_count: true, skip_empty_lines: true, max_record_size: limits.textBytes });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const record of parser) yield record as string[];
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { lines, message } = error as CsvError & { lines?: number };
    throw new UserError(`${name}${lines === undefined ? '' : `:${lines}`}: not valid CSV: ${message}`);
  } finally {
    source.destroy();
    parser.destroy();
  }
}
