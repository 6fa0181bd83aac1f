package peers;

import java.time.Duration;
import org.apache.flink.api.common.functions.*;
import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** From values to keys and values. */
class Jobs {
  static DataStream<Tuple2<String, String>> named(String name, DataStream<String> values) {
    return switch (name) {
      case "count" -> values.flatMap(new Split()).keyBy(w -> w)
          .window(TumblingEventTimeWindows.of(Duration.ofSeconds(10)))
          .aggregate(new Count(), new Label());
      case "pass" -> values.map(v -> Tuple2.of("", v)).returns(Types.TUPLE(Types.STRING, Types.STRING));
      case "running" -> values.keyBy(key -> key).process(new RunningCount());
      default -> throw new IllegalArgumentException("no job " + name);
    };
  }

  static class Split implements FlatMapFunction<String, String> {
    public void flatMap(String line, Collector<String> out) {
      for (int i = 0, j; i < line.length(); i = j + 1) {
        j = line.indexOf(' ', i);
        if (j < 0) j = line.length();
        if (j > i) out.collect(line.substring(i, j));
      }
    }
  }

  static class Count implements AggregateFunction<String, Long, Long> {
    public Long createAccumulator() { return 0L; }
    public Long add(String w, Long n) { return n + 1; }
    public Long getResult(Long n) { return n; }
    public Long merge(Long a, Long b) { return a + b; }
  }

  static class Label extends ProcessWindowFunction<Long, Tuple2<String, String>, String, TimeWindow> {
    public void process(String w, Context c, Iterable<Long> n, Collector<Tuple2<String, String>> out) {
      out.collect(Tuple2.of(w, "{\"word\":\"" + w + "\",\"windowStart\":" + c.window().getStart()
          + ",\"count\":" + n.iterator().next() + "}"));
    }
  }

  static class RunningCount extends KeyedProcessFunction<String, String, Tuple2<String, String>> {
    private transient ValueState<Long> counts;

    @Override
    public void open(OpenContext context) {
      counts = getRuntimeContext().getState(new ValueStateDescriptor<>("counts", Types.LONG));
    }

    @Override
    public void processElement(String key, Context context, Collector<Tuple2<String, String>> out) throws Exception {
      long count = counts.value() == null ? 1 : counts.value() + 1;
      counts.update(count);
      out.collect(Tuple2.of(key, "{\"key\":\"" + key + "\",\"count\":" + count + "}"));
    }
  }
}
