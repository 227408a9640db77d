import type { ChangedFile } from '@homeport/contracts/workspace/daemon';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from './changes.module.css';
import { type Answer, type Side, versionAddress, versionQuery } from './changes-api.ts';
import { type DiffLine, type DiffRow, diffRows } from './diff-rows.ts';

const textBytesMax = 256 * 1024;
/** More rows make the page slow. */
const rowsMax = 2000;
const picture = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico)$/i;
const sides: readonly Side[] = ['before', 'after'];

type Props = { answer: Answer; file: ChangedFile; isBeside: boolean };

/** Diff of one file: text line by line, images side by side. */
export function ChangesDiff({ answer, file, isBeside }: Props) {
  const t = useText();
  const present = sides.flatMap((side) => (file[side] === null ? [] : [file[side]]));
  const told = present.find(({ type }) => type !== 'file');
  if (told?.type === 'symlink') return <p className={classes.quiet}>{t('changes.link', { target: told.target })}</p>;
  if (told?.type === 'directory') return <p className={classes.quiet}>{t('changes.folder')}</p>;
  const files = present.flatMap((side) => (side.type === 'file' ? [side] : []));
  if (files.some(({ kept }) => !kept)) return <p className={classes.quiet}>{t('changes.notKept')}</p>;
  if (picture.test(file.path)) return <Pictures answer={answer} file={file} />;
  if (files.some(({ size }) => size > textBytesMax)) return <p className={classes.quiet}>{t('changes.tooLong')}</p>;
  return <Lines answer={answer} file={file} isBeside={isBeside} />;
}

function Pictures({ answer, file }: Omit<Props, 'isBeside'>) {
  const t = useText();
  return (
    <div className={classes.pictures}>
      {sides.map((side) =>
        file[side] === null ? null : (
          <figure key={side}>
            <img src={versionAddress(answer, file.path, side)} alt={`${t(`changes.${side}`)}: ${file.path}`} />
            <figcaption>{t(`changes.${side}`)}</figcaption>
          </figure>
        ),
      )}
    </div>
  );
}

function Lines({ answer, file, isBeside }: Props) {
  const t = useText();
  const before = useQuery(versionQuery(answer, file, 'before'));
  const after = useQuery(versionQuery(answer, file, 'after'));
  const [was, is] = [before.data, after.data];
  const isBinary = [was, is].some((text) => text !== undefined && /[\0\ufffd]/.test(text));
  const rows = useMemo(
    () => (was === undefined || is === undefined || isBinary ? [] : diffRows(was, is)),
    [was, is, isBinary],
  );
  const failure = before.error ?? after.error;
  if (failure) return <FormFailure failure={failure} />;
  if (was === undefined || is === undefined) return <div className={classes.bone} aria-busy="true" />;
  if (isBinary) return <p className={classes.quiet}>{t('changes.binary')}</p>;
  if (was === is) return <p className={classes.quiet}>{t('changes.sameText')}</p>;
  const all = isBeside ? rows : rows.flatMap(apart);
  const shown = all.slice(0, rowsMax);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard
    <section className={classes.lines} tabIndex={0} aria-label={file.path} dir="ltr">
      {all.length > rowsMax ? <p className={classes.quiet}>{t('changes.firstLines', { count: rowsMax })}</p> : null}
      <table data-beside={isBeside || undefined}>
        <tbody>
          {shown.map((row, index) => (
            <Row key={index} row={row} isBeside={isBeside} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Splits a row for the unified view: the removed line before the added one. */
function apart(row: DiffRow): DiffRow[] {
  if (row.kind === 'gap' || row.isSame || row.before === undefined || row.after === undefined) return [row];
  return [
    { ...row, after: undefined },
    { ...row, before: undefined },
  ];
}

function Row({ row, isBeside }: { row: DiffRow; isBeside: boolean }) {
  const t = useText();
  if (row.kind === 'gap') {
    return (
      <tr>
        <td colSpan={isBeside ? 4 : 3} className={classes.gap}>
          {t('changes.same', { count: row.count })}
        </td>
      </tr>
    );
  }
  const { before, after, isSame } = row;
  if (isBeside) {
    return (
      <tr>
        <LineNumber line={before} />
        <Cell text={before?.text} mark={isSame || before === undefined ? undefined : 'removed'} />
        <LineNumber line={after} />
        <Cell text={after?.text} mark={isSame || after === undefined ? undefined : 'added'} />
      </tr>
    );
  }
  return (
    <tr>
      <LineNumber line={before} />
      <LineNumber line={after} />
      <Cell text={(after ?? before)?.text} mark={isSame ? undefined : after === undefined ? 'removed' : 'added'} />
    </tr>
  );
}

function LineNumber({ line }: { line: DiffLine | undefined }) {
  return <td className={classes.number}>{line?.number}</td>;
}

function Cell({ text, mark }: { text: string | undefined; mark: 'added' | 'removed' | undefined }) {
  if (mark === undefined) return <td>{text}</td>;
  return <td data-mark={mark}>{mark === 'added' ? <ins>{text}</ins> : <del>{text}</del>}</td>;
}
