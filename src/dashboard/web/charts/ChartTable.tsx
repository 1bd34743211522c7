/** The values of a chart as a table, for those who do not see it or want to read them. At most some hundred rows; all of them are in the downloads. */

import { sampledIndices, union } from './lineData.js';
import type { ShownLine } from './types.js';

const MOST_ROWS = 200;

export interface ChartTableProps {
  readonly title: string;
  readonly lines: readonly ShownLine[];
  readonly xName: string;
  readonly formatX: (x: number) => string;
  readonly formatY: (y: number) => string;
}

export function ChartTable({ title, lines, xName, formatX, formatY }: ChartTableProps) {
  const x = union(lines.map(({ points }) => points.x));
  const rows = sampledIndices(x.length, MOST_ROWS);
  const places = lines.map(({ points }) => new Map(Array.from(points.x, (at, i) => [at, i])));
  return (
    <section class="chart-table" tabIndex={0} aria-label={`Values: ${title}`}>
      <table class="plain">
        <caption class="faint">{rows.length < x.length ? `${rows.length} of ${x.length} rows; all are in the downloads` : ''}</caption>
        <thead>
          <tr>
            <th scope="col" class="right">
              {xName}
            </th>
            {lines.map(({ line }) => (
              <th scope="col" key={line.key} class="right">
                <bdi>{line.label}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((i) => (
            <tr key={i}>
              <th scope="row" class="right">
                {formatX(x[i]!)}
              </th>
              {lines.map(({ line, points }, j) => {
                const at = places[j]!.get(x[i]!);
                return (
                  <td key={line.key} class="right">
                    {at === undefined ? '' : formatY(points.y[at] as number)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
