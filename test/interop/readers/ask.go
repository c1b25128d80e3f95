// Ask by clients/go: ask URL KEY KIND [COMMAND...] < elements, one a line, as
// ask.py does.
package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	bloomreader "bloomext/reader"
	"github.com/redis/go-redis/v9"
)

func parse(kind, line string) (element bloomreader.Element, err error) {
	var i int64
	var bytes []byte
	switch kind {
	case "text", "t":
		element = bloomreader.Text(line)
	case "integer":
		i, err = strconv.ParseInt(line, 10, 32)
		element = bloomreader.Integer(int32(i))
	case "bigint", "n":
		i, err = strconv.ParseInt(line, 10, 64)
		element = bloomreader.Bigint(i)
	case "uuid", "u":
		bytes, err = hex.DecodeString(strings.ReplaceAll(line, "-", ""))
		element = bloomreader.UUID(*(*[16]byte)(bytes))
	case "bytea", "b":
		bytes, err = hex.DecodeString(line)
		element = bloomreader.Bytea(bytes)
	default:
		var values []bloomreader.Element
		for _, value := range strings.Split(line, "\t") {
			value, err := parse(value[:1], value[1:])
			if err != nil {
				return value, err
			}
			values = append(values, value)
		}
		element = bloomreader.Row(values...)
	}
	return
}

// A client that does something before the next question.
type client struct {
	redis.UniversalClient
	meanwhile func()
}

func (c *client) Pipeline() redis.Pipeliner {
	if meanwhile := c.meanwhile; meanwhile != nil {
		c.meanwhile = nil
		meanwhile()
	}
	return c.UniversalClient.Pipeline()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	options, err := redis.ParseURL(os.Args[1])
	check(err)
	client := &client{redis.NewClient(options), nil}
	input, err := io.ReadAll(os.Stdin)
	check(err)
	var elements []bloomreader.Element
	for _, line := range strings.Split(strings.TrimSuffix(string(input), "\n"), "\n") {
		element, err := parse(os.Args[3], line)
		check(err)
		elements = append(elements, element)
	}
	filter := bloomreader.Filter{Client: client, Key: os.Args[2]}
	if len(os.Args) > 4 {
		_, err = filter.Contains(ctx, elements)
		check(err)
		var command []any
		for _, word := range os.Args[4:] {
			command = append(command, word)
		}
		client.meanwhile = func() {
			check(client.Do(ctx, command...).Err())
			_, err := filter.Contains(ctx, elements)
			check(err)
		}
	}
	answers, err := filter.Contains(ctx, elements)
	check(err)
	for _, answer := range answers {
		fmt.Println(map[bool]int{false: 0, true: 1}[answer])
	}
}
