import { Textarea, TextInput } from '@mantine/core';
import { useText } from '../i18n.ts';

type Form = { getInputProps(path: 'command' | 'args' | 'env'): object };

/** What is started in the workspace: the program, its arguments and its environment; of one that is offered only this. */
export function ProgramFields({ form, isOffered }: { form: Form; isOffered: boolean }) {
  const t = useText();
  const plain = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;
  return (
    <>
      {isOffered ? null : (
        <>
          <TextInput
            {...form.getInputProps('command')}
            {...plain}
            label={t('mcp.command')}
            description={t('mcp.commandHint')}
            placeholder="npx"
          />
          <Textarea
            {...form.getInputProps('args')}
            {...plain}
            label={t('mcp.args')}
            description={t('mcp.argsHint')}
            placeholder={'-y\n@modelcontextprotocol/server-everything'}
            autosize
            minRows={2}
            maxRows={10}
          />
        </>
      )}
      <Textarea
        {...form.getInputProps('env')}
        {...plain}
        label={t('mcp.env')}
        description={t('mcp.envHint')}
        placeholder="API_KEY=…"
        autosize
        minRows={2}
        maxRows={10}
      />
    </>
  );
}
