import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

/** One line of the table. `limit` is absent if a value is for information only. */
export type Row = {
  part: string;
  what: string;
  measured: number;
  unit: string;
  /** The subject of comparison, in the same unit. */
  compared?: { name: string; value: number };
  /** Judged figure: the measured value, or its ratio to the compared one. */
  judge?: 'value' | 'ratio';
  limit?: { at: 'most' | 'least'; value: number };
  note?: string;
};

export type Judged = Row & { ratio: number | undefined; met: boolean | undefined };

/** Collects rows, prints each as it comes, and writes all of them as JSON. */
export class Report {
  readonly rows: Judged[] = [];
  readonly failures: { part: string; reason: string }[] = [];

  add(row: Row): void {
    const ratio = row.compared === undefined ? undefined : row.measured / row.compared.value;
    const judged = { ...row, ratio, met: isMet(row, ratio) };
    this.rows.push(judged);
    console.log(line(judged));
  }

  fail(part: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.failures.push({ part, reason });
    console.log(`${part}: could not be measured: ${reason}`);
  }

  header(): void {
    console.log(line(undefined));
  }

  /** Writes the JSON and returns its path. */
  write(facts: object): string {
    const folder = join(import.meta.dirname, 'results');
    mkdirSync(folder, { recursive: true });
    const at = new Date().toISOString();
    const path = join(folder, `${at.replaceAll(':', '-')}.json`);
    const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
    writeFileSync(
      path,
      `${JSON.stringify({ at, machine, ...facts, rows: this.rows, failures: this.failures }, null, 1)}\n`,
    );
    return path;
  }
}

function isMet(row: Row, ratio: number | undefined): boolean | undefined {
  if (row.limit === undefined) return undefined;
  const value = row.judge === 'ratio' ? (ratio ?? Number.NaN) : row.measured;
  return row.limit.at === 'most' ? value <= row.limit.value : value >= row.limit.value;
}

function line(row: Judged | undefined): string {
  const cells: [string, number][] =
    row === undefined
      ? [
          ['measure', 12],
          ['what', 58],
          ['measured', 16],
          ['compared with', 20],
          ['ratio', 7],
          ['target', 12],
          ['', 7],
        ]
      : [
          [row.part, 12],
          [row.what, 58],
          [`${short(row.measured)} ${row.unit}`, 16],
          [row.compared === undefined ? '' : `${row.compared.name} ${short(row.compared.value)}`, 20],
          [row.ratio === undefined ? '' : row.ratio.toFixed(2), 7],
          [targetOf(row), 12],
          [row.met === undefined ? '' : row.met ? 'met' : 'MISSED', 7],
        ];
  const text = cells.map(([cell, width]) => cell.padEnd(width)).join(' ');
  return `${text}${row?.note ?? ''}`.trimEnd();
}

function targetOf(row: Row): string {
  if (row.limit === undefined) return '';
  const sign = row.limit.at === 'most' ? '<=' : '>=';
  return `${sign} ${row.limit.value}${row.judge === 'ratio' ? ` ${row.compared?.name}` : ''}`;
}

function short(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
