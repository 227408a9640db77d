import type { McpTool } from '@homeport/contracts/mcp/mcp';
import type { DiffRun } from '@homeport/contracts/text/text-diff';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { type TextId, useText } from '../../i18n/i18n.ts';
import { ShownText } from '../shown-text.tsx';
import { countHidden } from '../visible-text.ts';
import { diffTool, type FieldDiff, fieldText, type ToolField, toolFields } from './tool-diff.ts';
import { type ToolHint, toolHint, toolParameters } from './tool-parameters.ts';
import classes from './tool-review.module.css';

const fieldNames: Record<ToolField, TextId> = {
  name: 'mcp.field.name',
  title: 'mcp.field.title',
  description: 'mcp.field.description',
  inputSchema: 'mcp.field.inputSchema',
  outputSchema: 'mcp.field.outputSchema',
  annotations: 'mcp.field.annotations',
};

/** A whole definition: its text, its parameters and, collapsed below, the schemas word for word. */
export function ToolDefinition({ tool, mark }: { tool: McpTool; mark?: 'added' | 'removed' }) {
  const fields = toolFields.flatMap((field) => {
    const text = fieldText(tool, field);
    return field === 'name' || text === undefined ? [] : [{ field, text }];
  });
  return (
    <ToolBox
      name={tool.name}
      mark={mark}
      hint={toolHint(tool)}
      hidden={hiddenIn([tool.name, ...fields.map(({ text }) => text)])}
    >
      {fields
        .filter(({ field }) => !isCode(field))
        .map((field) => (
          <WholeField key={field.field} {...field} />
        ))}
      <Parameters tool={tool} />
      <Schemas fields={fields.filter(({ field }) => isCode(field))} />
    </ToolBox>
  );
}

type WholeFieldProps = { field: ToolField; text: string };

function WholeField({ field, text }: WholeFieldProps) {
  const t = useText();
  return (
    <Field label={t(fieldNames[field])} isCode={isCode(field)}>
      <ShownText text={text} />
    </Field>
  );
}

function Parameters({ tool }: { tool: McpTool }) {
  const t = useText();
  const parameters = toolParameters(tool);
  if (parameters.length === 0) return null;
  return (
    <Field label={t('mcp.parameters')} isCode={false}>
      <table className={classes.parameters}>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{t('mcp.field.name')}</th>
            <th scope="col">{t('mcp.parameterType')}</th>
            <th scope="col">{t('mcp.field.description')}</th>
          </tr>
        </thead>
        <tbody>
          {parameters.map(({ name, type, isRequired, description }) => (
            <tr key={name}>
              <th scope="row">
                <code>
                  <ShownText text={name} />
                </code>
                {isRequired ? <span className={classes.required}>{t('mcp.required')}</span> : null}
              </th>
              <td className={classes.type}>
                <ShownText text={type} />
              </td>
              <td>
                <ShownText text={description} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Field>
  );
}

/** Open from the start if they contain a hidden character. */
function Schemas({ fields }: { fields: readonly WholeFieldProps[] }) {
  const t = useText();
  if (fields.length === 0) return null;
  return (
    <details className={classes.schemas} open={hiddenIn(fields.map(({ text }) => text)) > 0}>
      <summary>{t('mcp.schemas')}</summary>
      <div className={classes.fields}>
        {fields.map((field) => (
          <WholeField key={field.field} {...field} />
        ))}
      </div>
    </details>
  );
}

/** Changes of a definition since it was trusted, field by field. */
export function ToolChange({ name, before, after }: { name: string; before: McpTool; after: McpTool }) {
  const t = useText();
  const fields = diffTool(before, after);
  const added = fields.flatMap((field) => field.runs.filter((run) => run.kind === 'added').map((run) => run.text));
  return (
    <ToolBox name={name} mark="modified" hint={toolHint(after)} hidden={hiddenIn(added)}>
      {fields.map((field) => (
        <Field key={field.field} label={fieldLabel(t(fieldNames[field.field]), field, t)} isCode={isCode(field.field)}>
          {field.runs.map((run, index) => (
            <Run key={index} run={run} />
          ))}
        </Field>
      ))}
    </ToolBox>
  );
}

function fieldLabel(name: string, { kind }: FieldDiff, t: (id: TextId, values?: Record<string, string>) => string) {
  return kind === 'modified' ? name : t(kind === 'added' ? 'mcp.fieldAdded' : 'mcp.fieldRemoved', { name });
}

function Run({ run }: { run: DiffRun }) {
  const t = useText();
  if (run.kind === 'same') return <ShownText text={run.text} />;
  const Tag = run.kind === 'added' ? 'ins' : 'del';
  return (
    <Tag className={classes[run.kind]}>
      <span className="visually-hidden">{t(run.kind === 'added' ? 'mcp.runAdded' : 'mcp.runRemoved')} </span>
      <ShownText text={run.text} />
    </Tag>
  );
}

function ToolBox({
  name,
  mark,
  hint,
  hidden,
  children,
}: {
  name: string;
  mark?: 'added' | 'removed' | 'modified';
  hint: ToolHint | undefined;
  hidden: number;
  children: ReactNode;
}) {
  const t = useText();
  return (
    <section className={classes.tool} data-mark={mark} aria-label={name}>
      <h3 className={classes.toolName}>
        <code>
          <ShownText text={name} />
        </code>
        {mark ? (
          <span className={classes.mark} data-mark={mark}>
            {t(`mcp.mark.${mark}`)}
          </span>
        ) : null}
        {hint ? (
          <span className={classes.badge} data-hint={hint} title={t('mcp.hintText')}>
            {t(`mcp.hint.${hint}`)}
          </span>
        ) : null}
      </h3>
      {hidden > 0 ? (
        <p className={classes.warning}>
          <TriangleAlert size={15} aria-hidden className={classes.warningIcon} />
          {t('mcp.hiddenWarning', { count: hidden })}
        </p>
      ) : null}
      <div className={classes.fields}>{children}</div>
    </section>
  );
}

function Field({ label, isCode, children }: { label: string; isCode: boolean; children: ReactNode }) {
  return (
    <section aria-label={label}>
      <h4 className={classes.fieldName}>{label}</h4>
      <div className={isCode ? classes.code : classes.prose}>{children}</div>
    </section>
  );
}

function isCode(field: ToolField): boolean {
  return field === 'inputSchema' || field === 'outputSchema' || field === 'annotations';
}

function hiddenIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countHidden(text), 0);
}
