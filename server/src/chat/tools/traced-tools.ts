import type { Tracing } from '../../tracing/tracing.ts';
import type { FindTools } from './find-tools.ts';

/** Each run of a tool becomes a part of the trace, by the tool's name only. */
export function tracedTools(tracing: Tracing, find: FindTools): FindTools {
  return async (...asked) => {
    const tools = await find(...asked);
    return tools.map((tool) => ({
      ...tool,
      execute: (...given) =>
        tracing.span(
          {
            kind: 'internal',
            name: `execute_tool ${tool.name}`,
            facts: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool.name },
          },
          () => tool.execute(...given),
        ),
    }));
  };
}
